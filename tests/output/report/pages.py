"""What tests need to know of a page's HTML."""

from html.parser import HTMLParser

_VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects what a page refers to, and checks that its elements are nested."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []
        self.scripts: list[str] = []
        self.headings: list[int] = []
        self.handlers: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.headings.append(int(tag[1]))
        self._note(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name.startswith("on"):
                self.handlers.append(name)
            if tag == "a" and name == "href":
                self.links.append(value or "")
            elif name in {"src", "href", "xlink:href", "srcset", "data", "action"}:
                self.references.append(value or "")
            if name == "id":
                self.ids.append(value or "")


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def references_of(page: Page) -> list[str]:
    """Return all that a page refers to: what it loads, and where its links lead."""
    return page.references + page.links
