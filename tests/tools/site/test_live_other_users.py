"""`make live` beside other users of the machine: neither the token nor a kernel's words are theirs to see."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import zmq
from live_server import in_a_loop_of_its_own

from tools.site import kernels

pytestmark = pytest.mark.slow


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
        secret = page.run(
            "import sys; print(sys.stdout.pub_thread._pipe_port, len(sys.stdout.pub_thread._pipe_uuid))"
        )
        assert secret.split() == [str(port), "16"]
        with zmq.Context() as context, context.socket(zmq.PUSH) as other, context.socket(zmq.SUB) as listener:
            other.setsockopt(zmq.LINGER, 1000)
            other.connect(f"tcp://127.0.0.1:{port}")
            other.send_multipart([b"0" * 16, b"stream", b"forged"])
            listener.subscribe(b"")
            listener.connect(f"tcp://127.0.0.1:{port}")
            assert page.run("print('said'); import time; time.sleep(0.3)") == "said\n"
            assert listener.poll(200) == 0


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
    for process in psutil.process_iter(["cmdline"]):
        assert server.token not in " ".join(process.info["cmdline"] or [])
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
                await client.wait_for_ready(timeout=60)
                with zmq.Context() as context, context.socket(zmq.SUB) as stranger:
                    stranger.linger = 0
                    stranger.subscribe(b"")
                    stranger.connect(f"tcp://127.0.0.1:{manager.iopub_port}")
                    time.sleep(0.3)
                    client.execute("print('heard')")
                    while (await client.get_iopub_msg(timeout=30))["msg_type"] != "stream":
                        pass
                    assert stranger.poll(500) == 0
                client.stop_channels()
            finally:
                await many.shutdown_all(now=True)

    in_a_loop_of_its_own(listen)
