"""Which rooms does the house have, what does each file in them ask, and who imports whom?

python docs/draw_rooms.py reads the syntax trees of dragoman/ and draws docs/rooms.svg; the same table goes
into ARCHITECTURE.md as text. With --check nothing is written: exit 1 where either is not what would be drawn.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "rooms.svg"
PAGE = ROOT / "ARCHITECTURE.md"

FOUNDATION, ROOF = "contracts", "dragoman"
# From the ground up. Imports point down only, neighbours ignore each other; rooms that have no code yet stay undrawn.
FLOORS: tuple[tuple[str, ...], ...] = (
    (FOUNDATION,),
    ("corpus", "evaluation", "drawing"),
    ("cleaning", "text", "search"),
    ("lm", "vectors", "alignment"),
    ("rules", "phrases", "neural"),
    ("system",),
    ("cli", "server"),
    (ROOF,),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
NAMED = re.compile(r"dragoman\.(\w+)\.[\w.]+:\w+")

Edge = tuple[str, str]
Row = tuple["File", tuple[str, ...]]
Columns = tuple[tuple[Row, ...], ...]


@dataclass(frozen=True)
class File:
    """A module and the question of its docstring, up to the first question mark."""

    name: str
    question: str


@dataclass(frozen=True)
class House:
    """rooms: their files, that of the room itself first where it has one. imports: (who, whom); named: pairs of which
    the first knows the second only as a "module:name", imported when asked for."""

    rooms: Mapping[str, tuple[File, ...]]
    imports: frozenset[Edge]
    named: frozenset[Edge]

    def floors(self) -> list[tuple[str, ...]]:
        """The floors that have rooms, from the roof down."""
        present = [tuple(room for room in rooms if room in self.rooms) for rooms in reversed(FLOORS)]
        return [rooms for rooms in present if rooms]


# --- reading ------------------------------------------------------------------------------------


def room_of(module: str, package: Path) -> str:
    """The room of "dragoman.text.store", "dragoman.durations.Duration" or "dragoman.load"."""
    first = [*module.split("."), ""][1]
    if (package / first).is_dir() and first:
        return first
    return FOUNDATION if (package / f"{first}.py").exists() and first not in ("__init__", "__main__") else ROOF


def question_of(tree: ast.Module) -> str:
    words = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].replace("`", "").split())
    return words.partition("?")[0] + "?" if "?" in words else words


def modules_met(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """(module, only named?) of every import and every "module:name" that stands in the tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", False) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED.fullmatch(node.value):
            yield node.value.partition(":")[0], True


def read_house(package: Path) -> House:
    """Raises ValueError for a room without a floor and for an import that does not point down."""
    rooms: dict[str, list[File]] = {}
    edges: dict[bool, set[Edge]] = {False: set(), True: set()}
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        room = room_of(".".join(path.relative_to(package.parent).with_suffix("").parts), package)
        if room not in FLOOR_OF:
            raise ValueError(f"{path}: the room {room!r} is on no floor of draw_rooms.FLOORS")
        name = f"dragoman.{path.stem}" if room == ROOF else path.stem
        rooms.setdefault(room, []).append(File(name, question_of(tree)))
        for module, only_named in modules_met(tree):
            other = room_of(module, package) if module.partition(".")[0] == package.name else room
            if other not in (room, ROOF):  # the package itself comes with every import
                edges[only_named].add((room, other))
    for who, whom in sorted(edges[False] | edges[True]):
        if FLOOR_OF[whom] >= FLOOR_OF[who]:
            raise ValueError(f"{who} imports {whom}: imports point down only")
    files = {
        room: tuple(sorted(found, key=lambda file: file.name not in ("__init__", FOUNDATION)))
        for room, found in rooms.items()
    }
    return House(files, frozenset(edges[False]), frozenset(edges[True] - edges[False]))


# --- laying out ---------------------------------------------------------------------------------

WIDTH, LEFT, SHAFT, ASIDE, PAD, NARROWEST = 1000, 24, 64, 20, 12, 200
INNER = WIDTH - LEFT - SHAFT - LEFT
LINE, BETWEEN, HEAD, TRACK = 15, 5, 34, 9
MONO = "JetBrains Mono, Menlo, Consolas, DejaVu Sans Mono, monospace"
SIGN_WIDTH, MONO_WIDTH = 6.2, 6.7

COLOURS = {
    ROOF: "#334155",
    "cli": "#475569",
    "server": "#475569",
    "system": "#4338ca",
    "neural": "#7c3aed",
    "phrases": "#be185d",
    "rules": "#b45309",
    "alignment": "#0369a1",
    "search": "#0f766e",
    "text": "#15803d",
    "evaluation": "#c2410c",
    "drawing": "#a16207",
    "corpus": "#1d4ed8",
    FOUNDATION: "#1f2937",
}


@dataclass(frozen=True)
class Box:
    """A room in the picture: columns of files, each with the lines of its question."""

    room: str
    question: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    columns: Columns

    @property
    def top(self) -> float:
        """Where the files begin."""
        return self.y + HEAD + 16 * max(0, len(self.question) - 1)

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


def wrapped(text: str, width: float, begun: float = 0.0) -> tuple[str, ...]:
    """Words in lines of at most `width` pixels, the first of which is filled up to `begun` already."""
    lines, used = [""], begun
    for word in text.split():
        length = (len(word) + 1) * SIGN_WIDTH
        if used + length > width and lines != [""]:
            lines.append("")
            used = 0.0
        lines[-1] = f"{lines[-1]} {word}".strip()
        used += length
    return tuple(lines)


def in_columns(files: Sequence[File], count: int, width: float) -> Columns:
    """The files in order, in at most so many columns of about equal height."""
    rows = [(file, wrapped(file.question, width, len(file.name) * MONO_WIDTH + 6)) for file in files]
    total = sum(height_of(row) for row in rows)
    columns: list[list[Row]] = [[]]
    filled = 0.0
    for row in rows:
        if columns[-1] and len(columns) < count and filled + height_of(row) / 2 > total * len(columns) / count:
            columns.append([])
        columns[-1].append(row)
        filled += height_of(row)
    return tuple(tuple(column) for column in columns)


def height_of(row: Row) -> int:
    return LINE * len(row[1]) + BETWEEN


def deepest(columns: Columns) -> int:
    return max(sum(map(height_of, column)) for column in columns)


def lowest_columns(files: Sequence[File], width: float) -> Columns:
    """The number of columns that needs the least height."""
    counts = range(1, max(1, int(width / NARROWEST)) + 1)
    return min((in_columns(files, count, width / count - 2 * PAD) for count in counts), key=deepest)


def widths(house: House, rooms: Sequence[str]) -> list[float]:
    """A floor shared out by how much there is to read in each room."""
    room_left = INNER - ASIDE * (len(rooms) - 1) - NARROWEST * len(rooms)
    signs = [sum(len(file.name) + len(file.question) for file in house.rooms[room]) for room in rooms]
    return [NARROWEST + room_left * count / sum(signs) for count in signs]


def floor_boxes(house: House, rooms: Sequence[str], y: float) -> list[Box]:
    """The rooms of a floor side by side, equally high, their top at y."""
    drafts, x = [], float(LEFT)
    for room, width in zip(rooms, widths(house, rooms), strict=True):
        first, *others = house.rooms[room]
        title, files = (first.question, others) if first.name == "__init__" else ("", [first, *others])
        question = wrapped(title, (width - 2 * PAD) * 0.93, len(room) * 12.0) if title else ()
        drafts.append(Box(room, question, round(x), y, round(width), 0, lowest_columns(files, width)))
        x += width + ASIDE
    height = max(box.top - box.y + deepest(box.columns) for box in drafts)
    return [replace(box, height=height) for box in drafts]


@dataclass(frozen=True)
class Plan:
    """boxes by floor; lanes: the rooms that are reached through the shaft on the right, the innermost first."""

    floors: tuple[tuple[Box, ...], ...]
    lanes: tuple[str, ...]
    height: float

    def box(self, room: str) -> Box:
        return next(box for floor in self.floors for box in floor if box.room == room)

    def storey(self, room: str) -> int:
        return next(i for i, floor in enumerate(self.floors) for box in floor if box.room == room)


def lay_out(house: House) -> Plan:
    floors = house.floors()
    storey = {room: i for i, rooms in enumerate(floors) for room in rooms}
    far = {whom for who, whom in house.imports | house.named if storey[whom] - storey[who] > 1}
    lanes = sorted(far, key=lambda room: (storey[room], room))
    gap = 26 + TRACK * len(lanes)
    boxes, y = [], 40.0
    for rooms in floors:
        boxes.append(tuple(floor_boxes(house, rooms, y)))
        y = boxes[-1][0].bottom + gap
    return Plan(tuple(boxes), tuple(lanes), y - gap + 54)


# --- drawing ------------------------------------------------------------------------------------


def draw(house: House) -> str:
    """The picture as SVG text."""
    plan = lay_out(house)
    height = round(plan.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="Inter, Segoe UI, Helvetica Neue, Arial, DejaVu Sans, sans-serif" font-size="11.5">',
        "<title>The rooms of Dragoman, their files and their imports</title>",
        markers(plan),
        f'<rect width="{WIDTH}" height="{height}" rx="14" fill="#fafaf7"/>',
        roof(plan),
        *shaft(house, plan),
        *(room_drawn(box) for floor in plan.floors for box in floor),
        *stairs(house, plan),
        legend(height - 24),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def colour(room: str) -> str:
    return COLOURS.get(room, "#52525b")


def markers(plan: Plan) -> str:
    """An arrow head for each room that something points at."""
    heads = [
        f'<marker id="to-{box.room}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0.5 L8,4 L0,7.5 z" fill="{colour(box.room)}"/>'
        "</marker>"
        for floor in plan.floors
        for box in floor
    ]
    return f"<defs>{''.join(heads)}</defs>"


def roof(plan: Plan) -> str:
    box = plan.floors[0][0]
    return (
        f'<path d="M{box.x:g},{box.y:g} L{box.x + 54:g},14 L{box.right - 54:g},14 L{box.right:g},{box.y:g} z" '
        f'fill="{colour(box.room)}" opacity="0.14"/>'
    )


def room_drawn(box: Box) -> str:
    ink = colour(box.room)
    parts = [
        f'<g><rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="8" fill="white" '
        f'stroke="{ink}" stroke-width="1.4"/>',
        f'<rect x="{box.x:g}" y="{box.y:g}" width="5" height="{box.height:g}" rx="2.5" fill="{ink}"/>',
        f'<text x="{box.x + PAD:g}" y="{box.y + 22:g}"><tspan font-size="16" font-weight="700" fill="{ink}">'
        f"{escape(box.room)}{'' if box.room in (ROOF, FOUNDATION) else '/'}</tspan>",
    ]
    for number, line in enumerate(box.question):
        where = f'x="{box.x + PAD:g}" dy="16"' if number else 'dx="9"'
        parts.append(f'<tspan {where} font-size="12.5" font-style="italic" fill="#111827">{escape(line)}</tspan>')
    parts.append("</text>")
    step = box.width / max(1, len(box.columns))
    for place, column in enumerate(box.columns):
        y = box.top + 10
        for file, lines in column:
            parts.append(file_drawn(box.x + step * place + PAD, y, file, lines, ink))
            y += height_of((file, lines))
    return "".join([*parts, "</g>"])


def file_drawn(x: float, y: float, file: File, lines: Sequence[str], ink: str) -> str:
    first, *more = lines
    rest = "".join(f'<tspan fill="#374151" x="{x:.1f}" dy="{LINE}">{escape(line)}</tspan>' for line in more)
    return (
        f'<text x="{x:.1f}" y="{y:g}"><tspan font-family="{MONO}" font-size="11" font-weight="600" fill="{ink}">'
        f"{escape(file.name)}</tspan>"
        f'<tspan fill="#374151" dx="6">{escape(first)}</tspan>{rest}</text>'
    )


def shaft(house: House, plan: Plan) -> list[str]:
    """Imports that pass a floor by: out of the importing room, down a lane of its goal's colour, into the goal."""
    drawn = []
    for number, goal in enumerate(plan.lanes):
        lane = WIDTH - LEFT - SHAFT + 20 + number * 13
        near = len(plan.lanes) - 1 - number  # the outermost lane has the topmost track
        sources = [who for who, whom in sorted(house.imports | house.named) if whom == goal]
        far = [who for who in sources if plan.storey(goal) - plan.storey(who) > 1]
        arrival = plan.floors[plan.storey(goal) - 1][0].bottom + 16 + TRACK * near
        end = plan.box(goal)
        x = end.right - 30 - 18 * near
        style = f'fill="none" stroke="{colour(goal)}" stroke-width="1.6" stroke-linejoin="round" opacity="0.85"'
        for who in far:
            start = plan.box(who)
            out, turn = start.right - 26 - 16 * near, start.bottom + 10 + TRACK * near
            path = f"M{out:g},{start.bottom:g} V{turn - 6:g} q0,6 6,6 H{lane - 6:g} q6,0 6,6 V{arrival - 6:g} q0,6 -6,6"
            dashes = ' stroke-dasharray="5 4"' if (who, goal) in house.named else ""
            drawn.append(
                f'<path d="{path} H{x + 6:g} q-6,0 -6,6 V{end.y:g}" {style}{dashes} marker-end="url(#to-{goal})"/>'
                f'<circle cx="{out:g}" cy="{start.bottom:g}" r="2.6" fill="{colour(goal)}"/>'
            )
    return drawn


def stairs(house: House, plan: Plan) -> list[str]:
    """Imports of the next floor down: straight arrows; dashed where a room is only named."""
    drawn = []
    for who, whom in sorted(house.imports | house.named):
        if plan.storey(whom) - plan.storey(who) != 1:
            continue
        start, end = plan.box(who), plan.box(whom)
        left, right = max(start.x, end.x), min(start.right, end.right)
        x = left + (right - left) * 0.4 if right > left + 20 else end.x + end.width * 0.5
        out = min(max(x, start.x + 20), start.right - 20)
        middle = (start.bottom + end.y) / 2
        bend = f"C{out:g},{middle:g} {x:g},{middle:g} {x:g},{end.y:g}" if out != x else f"V{end.y:g}"
        path = f"M{out:g},{start.bottom:g} {bend}"
        dashes = ' stroke-dasharray="5 4"' if (who, whom) in house.named else ""
        drawn.append(
            f'<path d="{path}" fill="none" stroke="#fafaf7" stroke-width="6"/>'
            f'<path d="{path}" fill="none" stroke="{colour(whom)}" stroke-width="2"{dashes} '
            f'marker-end="url(#to-{whom})"/>'
            f'<circle cx="{out:g}" cy="{start.bottom:g}" r="2.8" fill="{colour(whom)}"/>'
        )
    return drawn


def legend(y: float) -> str:
    return (
        f'<g fill="#4b5563"><path d="M{LEFT},{y - 4:g} h34" stroke="#4b5563" stroke-width="2"/>'
        f'<text x="{LEFT + 42}" y="{y:g}">imports, in the colour of what is imported</text>'
        f'<path d="M{LEFT + 320},{y - 4:g} h34" stroke="#4b5563" stroke-width="2" stroke-dasharray="5 4"/>'
        f'<text x="{LEFT + 362}" y="{y:g}">named in the catalogue, imported when asked for</text></g>'
    )


# --- the same as text ---------------------------------------------------------------------------

BEGIN, END = "<!-- rooms: drawn by docs/draw_rooms.py -->", "<!-- end of rooms -->"


def table(house: House) -> str:
    """A row a room, from the ground up: its question, its files, what it imports."""
    rows = ["| room | asks | files | imports |", "|---|---|---|---|"]
    for rooms in reversed(house.floors()):
        for room in rooms:
            asks = house.rooms[room][0].question
            files = ", ".join(f"`{file.name}`" for file in house.rooms[room] if file.name != "__init__")
            below = sorted(
                (whom for who, whom in house.imports if who == room), key=lambda each: (FLOOR_OF[each], each)
            )
            named = [f"({whom})" for who, whom in sorted(house.named) if who == room]
            name = room if room in (ROOF, FOUNDATION) else f"{room}/"
            rows.append(f"| **{name}** | {asks} | {files} | {', '.join([*below, *named]) or 'nothing'} |")
    return "\n".join(rows)


def with_table(page: str, house: House) -> str:
    """The page with the table between its two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has no place for the table of rooms ({BEGIN} ... {END})")
    return f"{before}{BEGIN}\n{table(house)}\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    house = read_house(ROOT / "dragoman")
    wanted = {PICTURE: draw(house), PAGE: with_table(PAGE.read_text(encoding="utf-8"), house)}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: python docs/draw_rooms.py", file=sys.stderr)
        return int(bool(stale))
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT)} drawn anew")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
