"""A page whose kernel is that of a course's JupyterHub, at the address that a teacher has set."""

from pathlib import Path

import pytest
from live_page import button, status, trouble
from playwright.sync_api import Page, Route, expect
from stand_in_binder import jupyter_server, rewritten

pytestmark = pytest.mark.thorough

CHAPTER = "what-is-attention"
MAY_ASK = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Allow-Methods": "*",
}


class Hub:
    """One student, ada, whose server is started when it is asked for."""

    def __init__(self, page: Page, address: str, token: str) -> None:
        self.token, self.looks, self.starts = token, 0, True
        self.server = None
        page.route(f"{address}hub/api/**", self.answer)
        rewritten(page, '"hub":""', f'"hub":"{address}"')

    def answer(self, route: Route) -> None:
        if route.request.headers.get("authorization") != f"token {self.token}":
            return route.fulfill(status=403, json={"message": "Forbidden"}, headers=MAY_ASK)
        if route.request.method == "POST":
            assert route.request.url.endswith("/users/ada/server")
            self.server = {"ready": False, "pending": "spawn" if self.starts else None, "url": "/user/ada/"}
            return route.fulfill(status=202, headers=MAY_ASK)
        self.looks += self.server is not None
        if self.looks > 1 and self.starts:
            self.server = {"ready": True, "pending": None, "url": "/user/ada/"}
        user = {"name": "ada", "server": None, "servers": {"": self.server} if self.server else {}}
        return route.fulfill(json=user, headers=MAY_ASK)


@pytest.fixture
def hub(page: Page, tmp_path: Path):
    with jupyter_server(tmp_path) as ready:
        yield Hub(page, ready["url"].removesuffix("user/ada/"), ready["token"])


def press(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}{CHAPTER}.html")
    page.get_by_role("button", name="Run this page").click()


def give(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    button(page, "Send").click()


def test_a_student_gives_a_token_once_and_the_server_is_started(page: Page, base_url: str, hub: Hub) -> None:
    press(page, base_url)
    expect(trouble(page)).to_contain_text("Your course’s JupyterHub has to know you.")
    expect(trouble(page).get_by_role("link")).to_have_attribute(
        "href", "/".join([*page.evaluate("chapterToRun.hub").split("/")[:3], "hub/token"])
    )
    give(page, "wrong")
    expect(trouble(page)).to_contain_text("has to know you")
    give(page, f" {hub.token} ")
    expect(status(page)).to_contain_text("is starting")
    expect(status(page)).to_have_text("Python runs on your course’s JupyterHub.")
    press(page, base_url)
    expect(status(page)).to_have_text("Python runs on your course’s JupyterHub.")


@pytest.mark.weekly
def test_a_server_that_does_not_start_is_told(page: Page, base_url: str, hub: Hub) -> None:
    hub.starts = False
    press(page, base_url)
    give(page, hub.token)
    expect(trouble(page)).to_contain_text("could not start your server")


@pytest.mark.weekly
def test_a_hub_that_does_not_answer_is_told(page: Page, base_url: str, hub: Hub) -> None:
    press(page, base_url)
    page.route("**/hub/api/**", lambda route: route.abort())
    give(page, hub.token)
    expect(trouble(page)).to_contain_text("does not answer this page")
