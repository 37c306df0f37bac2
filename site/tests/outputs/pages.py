"""Pages for tests, as they come from the reader."""

from __future__ import annotations

from typing import Any

from tenantry_site.page import FrontMatter, Heading, Link, Page, Section


def page(path: str, *sections: tuple[str, str], title: str = "", links: tuple[str, ...] = (), **front: Any) -> Page:
    """A page whose sections are (title, text); the first with an empty title stands before all headings."""
    made = tuple(Section(name.lower().replace(" ", "-"), name, text) for name, text in sections)
    headings = tuple(Heading(2, each.id, each.title) for each in made if each.title)
    html = "".join(f'<h2 id="{each.id}">{each.text}</h2>' for each in headings)
    name = title or path.rpartition("/")[2].replace("-", " ").capitalize()
    return Page(
        path=path,
        source=f"{path}.mdx",
        title=name,
        front=FrontMatter(title=name, **front),
        html=html,
        headings=headings,
        sections=made,
        links=tuple(Link(target, line) for line, target in enumerate(links, 1)),
        markdown="\n\n".join(text for _, text in sections),
    )
