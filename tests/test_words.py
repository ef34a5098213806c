"""Plain English in docstrings, comments, messages and pages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from each import each
from sources import parsed

CHECKOUT = Path(__file__).resolve().parent.parent

# To list the offenses of a folder: `PYTHONPATH=tests python tests/test_words.py src/farfield/core`.

OPENERS = {"What", "Which", "Whether", "How"}
VAGUE = ("those", "that of", "the others", "ones", "such")  # in a first line
REFUSED = (
    *("places?", "of its own", "of their own", "as they are", "as it is", "in turn", "stands"),
    *("but for", "has not", "told", "holds? good", "gives? back", "what", "bears?", "at hand"),
    *("stands? beside", "in print"),
)
BRITISH = (
    *("colour", "centre", "neighbour", "behaviour", "favour", "grey", "licence", "labelled"),
    *("labelling", "modelled", "modelling", "normalis", "initialis", "generalis", "organis"),
    *("regularis", "standardis", "summaris"),
)
ALLOWED = (
    *("in place", "decimal places?", "takes? place", "such as", "such that", "zeros and ones"),
    *("what-a-record-knows", "aria-labelledby"),
    *("NI, places", "ni-places", "shape.colour"),  # rows and regimes that records name
)
NO_NOUNS = OPENERS | {
    *("The", "A", "An", "Any", "Some", "All", "Each", "Every", "Such", "It", "Its", "Our", "Ours"),
    *("They", "Their", "This", "That", "These", "Those", "As", "At", "By", "For", "From", "If"),
    *("In", "Of", "On", "To", "When", "Where", "While", "Why", "With", "So", "Compute", "Get"),
    *("Gets", "Give", "Gives", "Make", "Return", "Returns", "Say", "Tell"),
}
LIST_OF_VERBS = """
abort accept accumulate act adapt add adjust adopt advance advise align allocate allow alternate
anneal answer append apply approximate arrange ask assemble assert assign attach attend augment
average await backpropagate batch begin bin bind blend block blur bound branch break bring
broadcast build cache calculate calibrate call cancel capture cast catch center chain change check
choose cite clamp classify clean clear clip clone close cluster collapse collate collect color
combine communicate compare compile complain complete compose compress compute concatenate
conclude condition configure confirm connect consume continue convert convolve copy correct
correlate count cover create credit crop cut cycle decay decide declare decode decompose decorate
decorrelate decrease deduplicate deepen defer define delete deliver demand denormalize deprecate
derive describe deserialize destroy detach detect determine diagonalize diff differ differentiate
digest disable discard disconnect discover discretize dispatch display dissolve distribute divide
do dot double download draw drive drop dump duplicate echo eliminate embed emit empty emulate
enable encode end enforce enlarge ensure enter enumerate erase escape estimate evaluate evict
exchange exclude execute exempt exhaust exit expand expect explain explore export expose extend
extract extrapolate fade fail fall feature feed fetch fill filter find finish fit fix flag flatten
flip floor flush fold follow forbid force forget format forward free freeze fuse gate gather
generate get give go grade grant group grow guard guess guide halt halve handle hash hide hold
hook host identify ignore illustrate implement import impose include increase increment index
infer inflate inform inherit inhibit initialize inject insert inspect install integrate interleave
interpolate interpret interrupt intersect introduce invalidate invert invoke isolate iterate join
judge jump justify keep kill label latch launch lay lead learn lease leave lend lengthen let level
lift liken limit link list listen load locate lock log look loosen lower make manage map mark mask
match maximize measure memorize mend mention merge minimize mirror mix modulate mount move
multiply mutate name narrow negate nest normalize note number obey observe obtain occupy occur
offer offset omit open optimize order orient orthogonalize outline overlay override overwrite own
pack pad pair parse partition pass patch pause perceive perform permit permute persist perturb
pick pin plan play plot point poll pool pop populate postpone precede predict prefer prefix
prepare prepend preserve preset pretend prevent print probe process produce profile project
promote prompt propagate propose protect prove provide prune publish pull push put quantize query
question queue quote raise ramp randomize rank reach read realize rearrange reason reassign
rebuild recall receive recognize recolor recompute reconnect reconstruct record rectify recur
redirect redraw reduce reenter refer refine reflect refresh refuse register regroup regularize
reinitialize reject relabel relate relay release reload rely remember remove rename render
renormalize rent reorder reorganize repack repair repeat replace replay replicate reply report
represent reproduce request requeue require resample rescale reserve reset reshape reshuffle
resize resolve respect respond rest restart restore restrict resume retain retrieve retry return
reuse reveal reverse revert revise reweight rewind rewrite ring rise roll rotate round route run
sample sanitize satisfy save say scale scan scatter schedule score scramble search secure see seed
segment select send sense separate serialize serve set settle shade shape shard share sharpen
shield shift shorten show shrink shuffle shut sift sign simplify simulate size skip slice smooth
solve sort space spare sparsify spawn specify spell split spread square squeeze stabilize stack
stall stamp standardize start state steer step stop store stream strengthen stretch strip
subsample subscribe substitute subtract suggest sum summarize supply surround survey survive
suspend swap sweep switch symmetrize synchronize synthesize tabulate tag take tell terminate test
throw tie tighten time tint toggle toss trace track trade train transcribe transform translate
transpose trap traverse treat trigger trim triple truncate try tune turn type unbind undo
unflatten unfold unfreeze union unite unlock unmask unpack unroll unset unstack untie unwrap
update upgrade upload use validate vanish vary vectorize verify view visit vote wait walk warm
warn warp watch weaken weigh weight whiten widen wipe wrap write yield zero zip
"""
VERBS = frozenset(LIST_OF_VERBS.split())
KINDS = ("Context manager", "Decorator", "Hook", "Callback")  # in place of the verb


class Line(NamedTuple):
    """First line of a docstring: of a function, a property (or field), or something else."""

    number: int
    kind: str
    text: str


class Text(NamedTuple):
    """Prose that begins at a line of a file."""

    number: int
    text: str


class Offense(NamedTuple):
    """Refused words, at a line of a file."""

    number: int
    words: str


def whole_words(*phrases: str) -> re.Pattern[str]:
    """Compile phrases to a pattern of whole words that may be broken across lines."""
    joined = "|".join(phrase.replace(" ", r"\s+") for phrase in phrases)
    return re.compile(rf"\b(?:{joined})\b", re.IGNORECASE)


PERMITTED = whole_words(*ALLOWED)
PRONOUNS = whole_words(*VAGUE)
PATTERN = whole_words(*REFUSED, *(rf"{stem}\w*" for stem in BRITISH))


def without_code(text: str) -> str:
    """Replace code, formulas, links and names of arguments by blanks; lines stay."""
    for pattern in (
        *(r"```.*?```", r"``.*?``", r"`[^`]*`", r"\$\$.*?\$\$", r"\$[^$\n]*\$"),
        *(r"\]\([^)]*\)", r"^\s*>>>.*?$", r"^ +\w+: (?=[A-Z`])", r"\b\w+_\w*", r"--\w\S*"),
    ):
        text = re.sub(
            pattern,
            lambda found: re.sub(r"\S", "~", found.group()),
            text,
            flags=re.DOTALL | re.MULTILINE,
        )
    return text


def is_asked(text: str, at: int) -> bool:
    """Look whether the sentence around a position ends with a question mark."""
    end = re.compile(r"[.?!:;|](?=\s|$|\W)|\n\s*\n").search(text, at)
    return end is not None and end.group() == "?"


def refused(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, counted from 0, and the refused words of a text."""
    text = without_code(text)
    allowed = [found.span() for found in PERMITTED.finditer(text)]
    for found in PATTERN.finditer(text):
        start, end = found.span()
        is_allowed = any(first <= start and end <= last for first, last in allowed)
        if not is_allowed and not (found.group().lower() == "what" and is_asked(text, start)):
            yield text.count("\n", 0, start), " ".join(found.group().split())


# --- First lines ---------------------------------------------------------------------------------


def is_property(node: ast.FunctionDef) -> bool:
    """Look whether a function is a property, cached or not."""
    return any(ast.unparse(name).endswith("property") for name in node.decorator_list)


def first_lines(tree: ast.Module) -> Iterator[Line]:
    """Yield the first lines of the docstrings of a file, fields' too."""
    open_nodes: list[tuple[ast.AST, str]] = [(tree, "module")]
    while open_nodes:
        node, kind = open_nodes.pop()
        body = getattr(node, "body", [])
        for number, statement in enumerate(body if isinstance(body, list) else []):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    of = kind if number == 0 else "property"
                    yield Line(statement.lineno, of, text.strip().partition("\n")[0])
                case ast.FunctionDef():
                    is_noun = is_property(statement)
                    open_nodes.append((statement, "property" if is_noun else "function"))
                case ast.ClassDef():
                    open_nodes.append((statement, "class"))
                case ast.If() | ast.With() | ast.Try():
                    open_nodes.append((statement, "module"))


def oddity(line: Line) -> str:
    """Name the fault of a first line; empty if it has none."""
    first = re.split(r"[\s,:;.]", line.text, maxsplit=1)[0]
    rest = line.text.removeprefix(first).lstrip(",").split()
    if vague := PRONOUNS.search(PERMITTED.sub("", without_code(line.text))):
        return f"pronoun without noun: {vague.group()}"
    if first in OPENERS and "?" not in line.text:
        return f"question without question mark: {first}"
    if line.kind == "property" and first in NO_NOUNS:
        return f"a property begins with a noun, not {first}"
    if line.kind == "function" and not line.text.startswith(KINDS):
        if first.lower() not in VERBS:
            return f"a function begins with a verb, not {first}"
        if rest[:1] == ["of"]:
            return f"a function begins with a verb, not the noun in {first} of"
    return ""


# --- Files ---------------------------------------------------------------------------------------


def comments(source: str) -> Iterator[Text]:
    """Yield the comments of a file, consecutive lines as one text."""
    block: list[str] = []
    start, last = 0, -1
    for number, line in enumerate(source.splitlines(), 1):
        if (found := re.search(r"(?:^|\s)#(?!:? ?(?:noqa|type:|pragma)) ?(.*)", line)) is None:
            continue
        if block and number != last + 1:
            yield Text(start, "\n".join(block))
            block = []
        start = start if block else number
        block.append(found.group(1))
        last = number
    if block:
        yield Text(start, "\n".join(block))


def strings(tree: ast.Module) -> Iterator[Text]:
    """Yield docstrings and messages: strings of more than one word."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if " " in text.strip():
                yield Text(node.lineno, text)


def offenses(path: Path) -> list[Offense]:
    """List the odd first lines and the refused words of a file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [Offense(1 + line, word) for line, word in refused(source)]
    tree = parsed(path)
    found = [
        Offense(line.number, f"{odd}: {line.text}")
        for line in first_lines(tree)
        if (odd := oddity(line))
    ]
    if PATTERN.search(source):  # else no part of it does
        found.extend(
            Offense(text.number + line, word)
            for text in (*strings(tree), *comments(source))
            for line, word in refused(text.text)
        )
    return sorted(found)


def sources() -> list[Path]:
    """List the sources and the pages that are written by hand."""
    patterns = ("*.md", "docs/*.md", "docs/*.py", "examples/*.py", "benchmarks/*.py")
    found = {path for pattern in patterns for path in CHECKOUT.glob(pattern)}
    found.update((CHECKOUT / "src" / "farfield").rglob("*.py"))
    for ending in ("*.jinja", "claims.toml", "statements.toml", "settings.md"):
        found.update((CHECKOUT / "src" / "farfield").rglob(ending))
    found.update((CHECKOUT / "results").glob("*.toml"))
    return sorted(found - {CHECKOUT / "CHANGELOG.md"})


# --- Tests ---------------------------------------------------------------------------------------


@each("path", sources())
def test_texts_are_in_plain_english(path: Path) -> None:
    found = offenses(path)
    assert not found, "\n".join(f"{path}:{number}: {words}" for number, words in found)


@each(
    "kind, good, bad",
    [
        ("function", "Read images.", "The images."),
        ("function", "Read the images, then scale them.", "Images that are read."),
        ("function", "Scale images.", "Scale of an image."),
        ("function", "Score, floor and ceiling are drawn.", "Scores, floor and ceiling."),
        ("function", "Context manager: the network takes embeddings.", "The network takes them."),
        ("property", "Maximum number of queued jobs.", "As many as may be queued."),
        ("property", "Images of a problem.", "Return images."),
        ("property", "Images of a problem.", "The images."),
        ("class", "Images at night.", "Images, those of nights."),
        ("module", "Images such as digits.", "Images of such."),
        ("function", "Fill with zeros and ones.", "Fill in the ones between."),
        ("function", "Read `those`.", "Read the others."),
        ("class", "Which digit is it?", "Which digit it is."),
    ],
)
def test_first_lines(kind: str, good: str, bad: str) -> None:
    assert not oddity(Line(1, kind, good))
    assert oddity(Line(1, kind, bad))


@each(
    "text, found",
    {
        "worn": ("Numbers in\n  print", [(0, "in print")]),
        "place": ("The second\nplace of places", [(1, "place"), (1, "places")]),
        "place that is allowed": ("Three decimal places are rounded in place.", []),
        "what": ("It returns what is drawn. What is it?", [(0, "what")]),
        "what is asked": ("Which answer, and what else?\nIt is this.", []),
        "what in a table": ("| what | is it? |", [(0, "what")]),
        "phrases": ("Each of its\nown, but for one.", [(0, "of its own"), (1, "but for")]),
        "spelling": ("The colours\nof neighbours", [(0, "colours"), (1, "neighbours")]),
        "code": ("`place` and ``in turn`` in ```\nwhat\n```, told_apart, $what$", []),
        "after code": ("```sh\nx\n```\n\n`a` is what `b` is.", [(4, "what")]),
        "arguments": ("Args:\n    place: Position of an item.", []),
        "other words": ("Untold placements, whatever withstands", []),
    },
)
def test_refused_words(text: str, found: list[tuple[int, str]]) -> None:
    assert list(refused(text)) == found


def test_docstrings_comments_and_messages_are_read(tmp_path: Path) -> None:
    path = tmp_path / "riddles.py"
    path.write_text(
        '"""What a task is."""\n'
        "told = 1  # as is\n"
        "# told on a line of\n"
        "# its own, told\n"
        "class Digit:\n"
        "    width: int\n"
        '    """The width."""\n'
        "    @property\n"
        "    def height(self):\n"
        '        """Get it."""\n'
        "    def f(self):\n"
        '        """Which digit is it? An image is shown.\n'
        "\n"
        '        In turn."""\n'
        '        return "no number is at\\\n  hand", "told"\n',
        encoding="utf-8",
    )
    assert [offense.number for offense in offenses(path)] == [1, 1, 3, 3, 4, 7, 10, 12, 14, 15]
    page = path.with_suffix(".md")
    page.write_text("# Title\n\nWhat it is, as it is.\n", encoding="utf-8")
    assert [offense.words for offense in offenses(page)] == ["What", "as it is"]


# --- Command -------------------------------------------------------------------------------------


def summary() -> Iterator[str]:
    """Yield a row per folder: its first lines, the share of odd lines, other refused words."""
    folders: dict[str, list[Path]] = {}
    for path in sources():
        parts = path.relative_to(CHECKOUT).parts
        folders.setdefault("/".join(parts[:3] if parts[0] == "src" else parts[:1]), []).append(path)
    for folder, paths in sorted(folders.items()):
        lines = [
            line for path in paths if path.suffix == ".py" for line in first_lines(parsed(path))
        ]
        odd = sum(bool(oddity(line)) for line in lines)
        others = sum(len(offenses(path)) for path in paths) - odd
        share = odd / max(1, len(lines))
        yield f"{folder:40} {len(lines):6} first lines, {share:4.0%} odd {others:6} refused words"


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    for path in sources():
        for number, found in offenses(path) if any(map(path.is_relative_to, chosen)) else []:
            sys.stdout.write(f"{path.relative_to(CHECKOUT)}:{number}: {found}\n")
    if not chosen:
        sys.stdout.writelines(f"{row}\n" for row in summary())
