"""`make live` beside other users of the machine: neither the token nor a kernel's words are theirs to see."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import zmq
from jupyter_client.session import Session
from live_server import PATIENCE, in_a_loop_of_its_own
from zmq.utils.monitor import recv_monitor_message

from tools.site import kernels

pytestmark = pytest.mark.slow


def is_refused(stranger, port):
    """Whether the other end hangs up before both have agreed on how to speak."""
    with stranger.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED) as told:
        stranger.connect(f"tcp://127.0.0.1:{port}")
        event = recv_monitor_message(told)["event"]
        stranger.disable_monitor()
    return event == zmq.EVENT_DISCONNECTED


def listening(process):
    return [each.laddr for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN]


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere, only the administrator sees a process's ports"
)
def test_no_port_is_open_but_the_server_s_and_one_that_says_nothing(server, kernel):
    """ipykernel's own: there a process that the kernel forked hands in what it prints, with a secret."""
    process = psutil.Process(server.process.pid)
    with server.channels(kernel) as page:
        page.run("pass")
        assert [tuple(each) for each in listening(process)] == [("127.0.0.1", urlsplit(server.address).port)]
        kernels_of = [
            each for each in process.children(recursive=True) if "ipykernel_launcher" in each.cmdline()
        ]
        assert len(kernels_of) == 1
        ((address, port),) = listening(kernels_of[0])
        assert address == "127.0.0.1"
        page.run("import sys; its = sys.stdout.pub_thread")
        known = page.run("print(its._pipe_port, its._pipe_uuid.hex(), sys.argv[-1])")
        said_port, secret, connection = known.split()
        assert (said_port, len(secret)) == (str(port), 32)
        session = Session(key=json.loads(Path(connection).read_text())["key"].encode())
        with zmq.Context() as context, context.socket(zmq.PUSH) as other, context.socket(zmq.SUB) as listener:
            other.connect(f"tcp://127.0.0.1:{port}")
            for words, its in (("forged", bytes(16)), ("from a child", bytes.fromhex(secret))):
                message = session.msg("stream", {"name": "stdout", "text": words})
                other.send_multipart([its, *session.serialize(message, ident=b"stream")])
            # What comes by one way comes in its order.
            streams = (each for each in iter(page.next, None) if each["msg_type"] == "stream")
            assert next(streams)["content"]["text"] == "from a child"
            assert is_refused(listener, port)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_keys_and_sockets_are_closed_to_other_users(server, kernel):
    with server.channels(kernel) as page:
        connection = Path(page.run("import sys; print(sys.argv[-1])").strip())
    private = connection.parent
    assert stat.S_IMODE(private.stat().st_mode) & 0o777 == 0o700
    assert stat.S_IMODE(connection.stat().st_mode) & 0o777 == 0o600
    assert len(list(private.glob(f"kernel-{kernel}-ipc-*"))) == 5
    assert not [file for file in private.iterdir() if server.token in file.name]


AS_ANOTHER = """
import os, socket, sys
connection, server = sys.argv[1:]
os.setgroups([]), os.setgid(65534), os.setuid(65534)
for name, attempt in {
    "key": lambda: open(connection),
    "folder": lambda: os.listdir(os.path.dirname(connection)),
    "socket": lambda: socket.socket(socket.AF_UNIX).connect(connection.removesuffix(".json") + "-ipc-1"),
    "memory": lambda: open(f"/proc/{server}/mem"),
    "environment": lambda: open(f"/proc/{server}/environ").read(),
}.items():
    try:
        attempt()
    except PermissionError:
        print(name, "refused")
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only the administrator is anybody")
def test_another_user_is_refused_all_of_these(server, kernel):
    with server.channels(kernel) as page:
        connection = page.run("import sys; print(sys.argv[-1])").strip()
    command = [sys.executable, "-c", AS_ANOTHER, connection, str(server.process.pid)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "".join(
        f"{name} refused\n" for name in ("key", "folder", "socket", "memory", "environment")
    )


@pytest.mark.thorough
def test_the_token_is_in_no_list_of_processes(server, kernel):
    process = psutil.Process(server.process.pid)
    started = process.children(recursive=True)
    assert started
    for each in (process, *started):
        assert server.token not in " ".join(each.cmdline())
    with server.channels(kernel) as page:
        assert page.run(f"import os; print({server.token!r} in str(os.environ))") == "False\n"


@pytest.mark.thorough
def test_where_a_kernel_is_spoken_with_by_ports_who_has_no_key_hears_nothing(monkeypatch):
    """As on Windows."""
    windows = kernels.private("nt")
    monkeypatch.setattr(kernels, "private", lambda: windows)

    async def listen():
        with kernels.private_folder() as folder:
            many = kernels.managers(folder)["kernel_manager"]
            try:
                manager = many.get_kernel(await many.start_kernel())
                assert manager.transport == "tcp"
                client = manager.client()
                client.start_channels()
                await client.wait_for_ready(timeout=PATIENCE)  # which hears the kernel
                with zmq.Context() as context, context.socket(zmq.SUB) as stranger:
                    assert is_refused(stranger, manager.iopub_port)
                client.stop_channels()
            finally:
                await many.shutdown_all(now=True)

    in_a_loop_of_its_own(listen)
