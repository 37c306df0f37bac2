"""One page with every component, in a shell of tokens, styles and script under the site's policy."""

from __future__ import annotations

from importlib.resources import files

from tenantry_site.page import Element, Fragment, Node
from tests.components.paper import code, drawn, element

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)

SITE = files("tenantry_site") / "static"
FILES = {
    "/tokens.css": (files("tenantry_site") / "static" / "bundles" / "tokens.css").read_text(),
    "/components.css": (SITE / "components.css").read_text(),
    "/components.js": (SITE / "components.js").read_text(),
    **{f"/{name}": (SITE / name).read_text() for name in ("site.css", "text.css", "mode.js")},
    "/shell.css": """
        main { margin: 0 auto; max-width: var(--article); padding: var(--space-4); }
        .code { background: var(--surface); border: var(--hairline) solid var(--line); border-radius: var(--radius);
          margin: var(--space-4) 0; padding: var(--space-2) var(--space-3); position: relative; }
        .code pre { margin: 0; overflow-x: auto; font: var(--size-2) / 1.45 var(--font-code); }
        .copy { inset: var(--space-1) var(--space-1) auto auto; position: absolute; }
    """,
}


def text(words: str) -> Fragment:
    return Fragment(f"<p>{words}</p>")


def words(name: str, content: str, **attributes: str) -> Element:
    """An element within a line."""
    return Element(name, attributes, (Fragment(content),), 7, inline=True)


KINDS = ["brands", "solid", "regular", "light", "thin", "duotone"]
KINDS += [f"sharp-{each}" for each in ("solid", "regular", "light", "thin", "duotone-solid")]


def everything() -> tuple[Node, ...]:
    """The 25 components and their synonyms, most with most of their attributes."""
    callouts = [element(name, f"Words of {name}.") for name in ("Note", "Info", "Tip", "Check", "Warning", "Danger")]
    icons = [words("Icon", "", icon=name, iconType=kind, size="24") for name in ("bell", "rocket") for kind in KINDS]
    return (
        Fragment("<h2>Callouts</h2>"),
        *callouts,
        element("Callout", "With its own icon and colour.", icon="key", iconType="light", color="#FFC107"),
        element("Callout", "A typed one.", type="warning", title="With **a title**"),
        Fragment("<h2>Cards</h2>"),
        element(
            "CardGroup",
            element("Card", "Words of a card.", title="A card", icon="rocket", href="/guides/other"),
            element("Card", "Horizontal words.", title="Horizontal", icon="github", horizontal=True, color="#a0f"),
            element("Card", 'With <a href="other.html">a link</a> in it.', title="Two links", href="start", cta="Read"),
            cols=3,
        ),
        element("Columns", element("Column", "Left column."), element("Column", "Right column."), cols=2),
        Fragment("<h2>Accordions</h2>"),
        element("Accordion", "Words of an accordion.", title="Alone", description="Described", icon="book"),
        element(
            "AccordionGroup",
            element("Accordion", "Words of the first.", title="First", defaultOpen=True),
            element("Accordion", Fragment('<p id="deep">Words of the second.</p>'), title="Second"),
        ),
        Fragment("<h2>Tabs</h2>"),
        element(
            "Tabs",
            element("Tab", "Words for npm.", title="npm", icon="npm", iconType="brands"),
            element("Tab", "Words for pnpm.", title="pnpm"),
            element("Tab", element("Accordion", "Words in a tab.", title="Nested"), title="yarn"),
        ),
        element("Tabs", element("Tab", "More for npm.", title="npm"), element("Tab", "More for pnpm.", title="pnpm")),
        element(
            "CodeGroup", code("npm install\n", "bash", "npm"), code("pnpm <add>\n", "bash", "pnpm"), code("x", "go")
        ),
        Fragment("<h2>Steps</h2>"),
        element(
            "Steps",
            element("Step", "Words of the first step.", title="Install"),
            element("Step", code("make\n", "bash"), title="Build", stepNumber=5),
            element("Step", "Words of the last step.", title="Run", icon="play", titleSize="h3"),
        ),
        Fragment("<h2>Fields</h2>"),
        element("ParamField", "Whose it is.", query="user_group_id", type="string", required=True, placeholder="acme"),
        element(
            "ParamField",
            "What it holds.",
            element(
                "Expandable",
                element("ResponseField", "A limit.", name="limit", type="number", default=3),
                title="properties",
            ),
            body="properties",
            type="object",
            deprecated=True,
        ),
        element("RequestExample", code("curl x\n", "bash", "cURL"), code("requests.get(x)\n", "python", "Python")),
        element("ResponseExample", code("{}\n", "json", "200")),
        Fragment("<h2>The rest</h2>"),
        element(
            "Frame",
            Fragment('<img src="/images/one.png" alt="A square" width="64" height="64">'),
            caption="A **caption**",
        ),
        element("Update", "Words of an update.", label="2024-10-11", description="v0.1", tags=["new", "api"]),
        Fragment("<p>A line with "),
        words("Tooltip", "a term", tip="Words of a tooltip"),
        Fragment(", "),
        words("Badge", "beta", color="green"),
        Fragment(" and icons: "),
        *icons,
        Fragment("</p>"),
        element("Snippet", file="shared"),
    )


def page() -> str:
    """The whole document."""
    html, _ = drawn(*everything(), shared=(text("Words of a snippet."),))
    styles = "".join(
        f'<link rel="stylesheet" href="/{name}.css">' for name in ("tokens", "site", "text", "shell", "components")
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Components</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
        f'{styles}<script src="/mode.js"></script><script src="/components.js" defer></script></head>'
        f'<body><main class="content"><h1>Components</h1>{html}</main></body></html>'
    )
