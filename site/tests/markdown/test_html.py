"""Raw HTML: what is kept, what is left out, and that nothing is lost."""

from __future__ import annotations

import pytest

from tests.markdown.reading import codes, read, reader


def html(text: str) -> str:
    return " ".join(read(text).html.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<br>b<br/>c<BR />d", "<p>a<br>b<br>c<br>d</p>"),
        (
            "H<sub>2</sub>O x<sup>2</sup> <kbd>K</kbd> <mark>m</mark>",
            "<p>H<sub>2</sub>O x<sup>2</sup> <kbd>K</kbd> <mark>m</mark></p>",
        ),
        ("<div align='center'>\n\n**a**\n\n</div>", '<div align="center"><p><strong>a</strong></p> </div>'),
        ("<p>a <b>b</b></p>", "<p>a <b>b</b> </p>"),
        ("<p>\n  a\n</p>", "<p>a </p>"),
        ("<center>a</center>", '<div align="center">a </div>'),
        (
            "<details open><summary>S</summary>\n\ntext\n</details>",
            "<details open><summary>S </summary> <p>text</p> </details>",
        ),
        ("<ul><li>a<li>b</ul>", "<ul><li>a </li> <li>b</li> </ul>"),
        (
            '<img src="/images/a.png" alt="A" width="300px" height=50% class="x" />',
            '<p><img alt="A" src="../images/a.png" loading="lazy" width="300" height="50%"></p>',
        ),
        (
            "<img src='/images/a.png' style={{width: '50%', color: 'red'}} />",
            '<p><img alt="" src="../images/a.png" loading="lazy" width="50%"></p>',
        ),
        (
            "<img src='/images/a.png' style='width: 40px; float: left'>",
            '<p><img alt="" src="../images/a.png" loading="lazy" width="40"></p>',
        ),
        (
            '<img className="block dark:hidden" src="/images/a.png" />',
            '<p><img alt="" src="../images/a.png" loading="lazy" class="only-light"></p>',
        ),
        (
            '<img className="hidden dark:block" src="/images/a.png" />',
            '<p><img alt="" src="../images/a.png" loading="lazy" class="only-dark"></p>',
        ),
        ("<a href='/guides/more' target='_blank'>x</a>", '<p><a href="more.html">x</a></p>'),
        ("<a href='https://e.com'>x</a>", '<p><a href="https://e.com" rel="noopener">x</a></p>'),
        ("<a id='here'></a>x", '<p><a id="here"></a>x</p>'),
        (
            "<video src='/clip.mp4' autoplay muted></video>",
            '<video muted src="../clip.mp4" controls preload="metadata"></video>',
        ),
        (
            "<video><source src='/clip.mp4' type='video/mp4'></video>",
            '<video controls preload="metadata"><source type="video/mp4" src="../clip.mp4"></video>',
        ),
        (
            "<video src='https://e.com/v.mp4' title='T'></video>",
            '<a class="embed" href="https://e.com/v.mp4" rel="noopener">T</a>',
        ),
        (
            "<iframe src='https://e.com/v' title='T'></iframe>",
            '<p><a class="embed" href="https://e.com/v" rel="noopener">T</a> </p>',
        ),
        ("<img src='https://e.com/i.png' alt='I'>", '<p><a href="https://e.com/i.png" rel="noopener">I</a></p>'),
        ("[![I](https://e.com/i.png)](/guides/more)", '<p><a href="more.html">I</a></p>'),
        ("<span style='color:red'>a</span>", "<p><span>a</span></p>"),
        ("<pre><code class='language-js'>a &lt; b\n\n  {c}</code></pre>", "a &lt; b {c}</code></pre></div>"),
        ("<a>\n\ntext\n\n</a>", "<a>text </a>"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "<table><tr><td>a </td> <td>b</td> </tr> </table></div>"),
    ],
)
def test_memo(text: str, expected: str) -> None:
    """Red when an element that authors use is lost or changed."""
    assert expected in html(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<form>kept</form>", "PAGE012"),
        ("<button onclick='x'>kept</button>", "PAGE012"),
        ("<object>kept</object>", "PAGE012"),
        ("kept <script>gone</script>", "PAGE012"),
        ("kept\n\n<style>\n\ngone\n</style>", "PAGE012"),
        ("kept <svg><g>gone</g></svg>", "PAGE012"),
        ("<b onclick='x'>kept</b>", "PAGE013"),
        ("<custom-tag>kept</custom-tag>", "PAGE012"),
        ("<a href='javascript:x'>kept</a>", "PAGE014"),
        ("[kept](javascript:x)", "PAGE014"),
        ("kept ![kept](https://e.com/x.png)", "PAGE015"),
    ],
)
def test_left_out(text: str, code: str) -> None:
    """Red when something is left out without a word, or takes text with it."""
    page = read(text)
    assert "kept" in page.html
    assert "gone" not in page.html
    assert "javascript" not in page.html
    assert codes(page) == [code]


def test_media_of_other_hosts() -> None:
    """Red when the site's own choice to show them is not followed."""
    shown = (
        reader(external_media=True)
        .read("index.mdx", "<iframe src='https://e.com/v' width=300 onload='x' />\n\n![I](https://e.com/i.png)")
        .html
    )
    assert '<iframe width="300" title="https://e.com/v" src="https://e.com/v" sandbox="' in shown
    assert '<img alt="I" src="https://e.com/i.png" loading="lazy">' in shown
    assert "onload" not in shown


def test_a_script_that_stays_open_is_only_a_tag() -> None:
    """Red when an unclosed script takes the page with it."""
    assert "kept" in html("<script>\n\nkept")


def test_headings_in_html() -> None:
    """Red when they are missing from the table of contents, or there are two headings of level 1."""
    page = read("<h1 align='center'>One</h1>\n\n<h3 id='own'>Two *x*</h3>")
    assert '<h2 align="center" id="one">One' in page.html
    assert '<h3 id="own">' in page.html
    assert [(each.level, each.id, each.text) for each in page.headings] == [(2, "one", "One"), (3, "own", "Two x")]


def test_descriptions_of_others() -> None:
    """Red when an OpenAPI description gets components, ids, headings of a page's own levels, or a block in a line."""
    mine = reader()
    assert (
        mine.inline("a **b** `c` <b>d</b> <div>e</div> {f} <Card />")
        == ("a <strong>b</strong> <code>c</code> <b>d</b> e {f} ")[:-1]
    )
    assert mine.inline("plain & <simple>") == "plain &amp; &lt;simple&gt;"
    assert mine.inline("see https://e.com.") == 'see <a href="https://e.com" rel="noopener">https://e.com</a>.'
    assert mine.block("# A\n\ntext\n\n## B") == "<h3>A</h3>\n<p>text</p>\n<h4>B</h4>\n"
    assert mine.block("<Note>x</Note>") == "<p>x</p>\n"
    assert "[x](" not in mine.block("[x](/guides/more)", page="api/index")
