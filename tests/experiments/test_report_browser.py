"""A report in a real browser: no script fault, no network, by keyboard, on a phone, on paper, for everybody."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from large_study import HOSTILE, make_large_study

from halfwise.experiments.home import StudyFolder
from halfwise.experiments.report import front_html, report_html

pytestmark = pytest.mark.full
MOST_BYTES = 5_000_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of 200 trials over 500 layers, one with a hostile name."""
    home = tmp_path_factory.mktemp("home")
    file = home / "report.html"
    file.write_text(report_html(make_large_study(home / "studies", trials=200, layers=500)), encoding="utf-8")
    return file


@pytest.fixture
def page(report: Path) -> Iterator[Any]:
    """The report, open; afterwards nothing went wrong in it, and it asked nobody for anything."""
    with browsing() as seen:
        seen.open(report)
        yield seen.page
        assert seen.errors == []
        assert {url for url in seen.requests if not url.startswith("data:")} == {report.as_uri()}


def test_two_hundred_trials_are_a_page_that_can_be_sent(report: Path):
    """At most 5 MB."""
    assert report.stat().st_size <= MOST_BYTES


def test_a_hostile_name_is_text(page):
    """The layer's name is read letter by letter, and no script of that name ran."""
    assert page.locator("#front ul.fallen").get_by_text(HOSTILE).count() > 0
    assert page.locator("script").count() == 2


def test_a_trial_shows_its_policy_by_mouse_and_by_keyboard(page):
    """Hovered or focused, a sign in the picture says what it is; arrows step on, Enter takes it to be compared."""
    panel, spot = page.locator("#spot"), page.locator('.spot[data-trial="0"]')
    page.locator(".spot.best .reach").hover()
    assert '"default": "float16"' in panel.inner_text()
    spot.focus()
    assert panel.inner_text().startswith("000 O0: accuracy 0.9")
    page.keyboard.press("ArrowRight")
    assert not panel.inner_text().startswith("000 O0")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert page.locator("#b-name").inner_text() == "000 O0"


def test_the_picture_is_one_stop_of_the_tab_key(page):
    """Two hundred trials do not stand between a reader and the next section: one of them takes the focus."""
    assert page.locator('.spot[tabindex="0"]').count() == 1
    assert page.locator('#strip td[tabindex="0"]').count() == 1


def test_a_cell_says_why_by_mouse_and_by_keyboard(page):
    """Hovered or focused, a cell of the strip names layer, policy, ops and rule; arrows go to its neighbours."""
    panel, cells = page.locator("#cell"), page.locator("#strip tbody tr").first.locator("td")
    cells.nth(1).hover()
    expected = "000 O0: float32: MatMul\ndecided by the policy's default: float32"
    assert panel.inner_text().endswith(expected)
    assert panel.inner_text().startswith(HOSTILE)
    cells.nth(0).focus()
    assert not panel.inner_text().endswith(expected)
    page.keyboard.press("ArrowRight")
    assert panel.inner_text().endswith(expected)
    page.keyboard.press("ArrowDown")
    assert not panel.inner_text().startswith(HOSTILE)


def test_two_policies_are_compared_layer_by_layer(page):
    """Float32 and the chosen one at first; as many rows as layers differ, and none for one policy with itself."""
    said = page.locator("#differences")
    assert page.locator("#a-name").inner_text() == "000 O0"
    rows = said.locator("tbody tr")
    assert said.inner_text().startswith(f"{rows.count()} of 500 layers")
    assert rows.count() > 100
    page.locator("#b").select_option("0")
    assert said.inner_text() == "0 of 500 layers compute in another precision, as asked."


def names(page) -> list[str]:
    """The first cells of the rows that are shown, in their order."""
    return page.locator("#table tbody tr:not([hidden]) th").all_inner_texts()


def test_trials_are_sorted_by_keyboard(page):
    """A heading's button sorts up, then down; trials without a figure stand last both ways."""
    heading = page.locator("#table thead th").nth(5)
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    ratios = [
        float(text.rstrip("x"))
        for text in page.locator("#table tbody tr td:nth-child(6)").all_inner_texts()
        if text
    ]
    assert ratios == sorted(ratios)
    assert heading.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    cells = page.locator("#table tbody tr td:nth-child(6)").all_inner_texts()
    known = [float(text.rstrip("x")) for text in cells if text]
    assert known == sorted(known, reverse=True)
    assert cells == [text for text in cells if text] + [text for text in cells if not text]


def test_trials_are_filtered(page):
    """By what a row says, and by status; how many are left is said."""
    page.locator("#filter").fill("o2")
    assert names(page) == ["002 O2"]
    assert page.locator("#count").inner_text() == "1 of 200 trials"
    page.locator("#filter").fill("")
    page.locator("#status").select_option("failed")
    statuses = set(page.locator("#table tbody tr:not([hidden]) td:nth-child(2)").all_inner_texts())
    assert statuses == {"failed"}


def test_a_phone_needs_no_sideways_scrolling(report: Path):
    """At 360 pixels the page is as wide as the screen; wide tables scroll in boxes of their own."""
    with browsing(viewport={"width": 360, "height": 800}) as seen:
        seen.open(report)
        assert seen.page.evaluate("document.documentElement.scrollWidth") == 360


def test_the_front_alone_asks_nobody_for_anything(report: Path):
    """The page of the picture alone shows policies too, without a script fault or a request."""
    alone = report.with_name("front.html")
    alone.write_text(front_html(StudyFolder(report.parent / "studies" / "large")), encoding="utf-8")
    with browsing() as seen:
        seen.open(alone)
        seen.page.locator(".spot.best .reach").hover()
        assert '"default": "float16"' in seen.page.locator("#spot").inner_text()
        seen.page.locator(".spot.best .reach").click()
        assert seen.errors == []
        assert {url for url in seen.requests if not url.startswith("data:")} == {alone.as_uri()}


def test_on_paper_nothing_is_cut_off(report: Path):
    """As wide as paper, tables are whole and what only a screen can do is left out."""
    with browsing(viewport={"width": 720, "height": 1000}) as seen:
        seen.open(report)
        seen.page.emulate_media(media="print")
        table = seen.page.locator("#trials .tall")
        assert table.evaluate("box => box.scrollHeight <= box.clientHeight + 1")
        assert not seen.page.locator("#compare").is_visible()
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert seen.page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(report: Path, scheme: str):
    """Contrast, names, roles, headings, keyboard: nothing that axe-core calls serious or critical."""
    with browsing(color_scheme=scheme) as seen:
        seen.open(report)
        assert seen.barriers() == []
