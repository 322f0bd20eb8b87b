"""The scripts of the page keep the rules of their joining, and what breaks one is named with its line."""

from __future__ import annotations

import re
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from simsched.errors import ConfigError
from simsched.page.html import WEB
from simsched.page.js_text import depths, masked
from simsched.page.link import link_scripts, read_module

NODE = shutil.which("node")
SCRIPTS = {path.name: path.read_text("utf-8") for path in sorted((WEB / "js").glob("*.js"))}

MAIN = 'import { twice } from "./b.js";\nimport {\n  ONE,\n  Two,\n} from "./a.js";\n\nconst begun = twice(ONE);\n'
A = 'export const ONE = 1;\n\nexport class Two {\n  three() {\n    return "export const no = 3;";\n  }\n}\n'
B = """\
import { ONE } from "./a.js";

/** import { x } from "./y.js"; */
export async function twice(x) {
  const ONCE = x;
  return ONCE + ONE;
}
"""


def fault(sources: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        link_scripts(sources, "x.js" if "x.js" in sources else "a.js")
    return str(caught.value)


# --- what is shipped ------------------------------------------------------------------------------------------


def test_every_script_of_the_page_is_used_and_keeps_the_rules() -> None:
    assert len(SCRIPTS) > 10
    joined = link_scripts(SCRIPTS)
    assert [name for name in SCRIPTS if f"// {name}\n" not in joined] == []


def test_the_table_of_the_scripts_names_every_one() -> None:
    table = (WEB / "README.md").read_text("utf-8").partition("## Rules")[0]
    patterns = [name.removeprefix("js/") for name in re.findall(r"`([\w*/]+\.js)`", table)]
    assert [name for name in SCRIPTS if not any(fnmatchcase(name, pattern) for pattern in patterns)] == []
    names = [*SCRIPTS, "worker.js"]
    assert [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)] == []


def test_scripts_are_short() -> None:
    assert {name: text.count("\n") for name, text in SCRIPTS.items() if text.count("\n") > 300} == {}


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_joined_script_is_javascript(tmp_path: Path) -> None:
    target = tmp_path / "joined.mjs"
    target.write_text(link_scripts(SCRIPTS), "utf-8")
    assert NODE is not None
    done = subprocess.run([NODE, "--check", str(target)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- joining --------------------------------------------------------------------------------------------------


def test_modules_are_joined_after_what_they_import() -> None:
    joined = link_scripts({"main.js": MAIN, "b.js": B, "a.js": A, "unused.js": "export function none() {}\n"})
    assert re.findall(r"^// (\w+\.js)$", joined, re.MULTILINE) == ["a.js", "b.js", "main.js"]
    assert "\nconst ONE = 1;\n" in joined
    assert "\nclass Two {" in joined
    assert "\nasync function twice(x) {" in joined
    assert '"export const no = 3;"' in joined
    assert '/** import { x } from "./y.js"; */' in joined
    assert not re.search(r"^(import|export)\b", joined, re.MULTILINE)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_joined_modules_do_what_they_did_apart(tmp_path: Path) -> None:
    main = MAIN + "console.log(await_later(), new Two().three());\nfunction await_later() { return begun; }\n"
    sources = {"main.js": main.replace("twice(ONE)", "typeof twice(ONE)"), "a.js": A, "b.js": B}
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "joined.mjs").write_text(link_scripts(sources))
    assert NODE is not None
    apart, joined = (
        subprocess.run([NODE, str(tmp_path / name)], capture_output=True, text=True, check=True).stdout
        for name in ("main.js", "joined.mjs")
    )
    assert apart == joined == "object export const no = 3;\n"


def test_a_way_with_several_branches_is_joined_once() -> None:
    sources = {
        "main.js": 'import { b } from "./b.js";\nimport { c } from "./c.js";\nb(c);\n',
        "b.js": 'import { a } from "./a.js";\nexport function b() { return a; }\n',
        "c.js": 'import { a } from "./a.js";\nexport const c = a;\n',
        "a.js": "export const a = 1;\n",
    }
    assert re.findall(r"^// (\w)\w*\.js$", link_scripts(sources), re.MULTILINE) == ["a", "b", "c", "m"]


# --- rules ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('import a from "./a.js";\n', 1, "an import is written"),
        ('import * as a from "./a.js";\n', 1, "an import is written"),
        ('import { a as b } from "./a.js";\n', 1, "an import is written"),
        ('import "./a.js";\n', 1, "an import is written"),
        ('import { a } from "https://cdn.example/a.js";\n', 1, "an import is written"),
        ("import { a } from './a.js';\n", 1, "an import is written"),
        ('// first\nconst x = 1;\nimport { ONE } from "./a.js";\n', 3, "imports stand at the top"),
        ("export default function f() {}\n", 1, "only 'export function'"),
        ("const x = 1;\nexport { x };\n", 2, "only 'export function'"),
        ('export * from "./a.js";\n', 1, "only 'export function'"),
        ("export let x = 1;\n", 1, "only 'export function'"),
        ("const [x, y] = [1, 2];\n", 1, "declares one plain name"),
        ("\nconst { x } = {};\n", 2, "declares one plain name"),
        ("let x = 1, y = 2;\n", 1, "declares one plain name"),
        ("function f() {}\nawait f();\n", 2, "await at the top"),
        ('const x = "</script>";\n', 1, "would end the script"),
        ("const x = 1; // <!-- no\n", 1, "would end the script"),
    ],
)
def test_a_broken_rule_is_named_with_its_line(text: str, line: int, message: str) -> None:
    found = fault({"x.js": text, "a.js": A})
    assert found.startswith(f"js/x.js:{line}:1: ")
    assert message in found


@pytest.mark.parametrize(
    "text",
    [
        "export const f = async (x, y) => { const [z, w] = [await x, y]; return z + w; };\n",
        "// only a comment\n",
        "const f = function () {};\n",
        "export const C = class extends Object {};\n",
        "const s = `a ${(() => { const [p, q] = [1, 2]; return `${p}}`; })()} const [x, y] = 1`;\n",
        "const r = /[\"'`{/]+/g;\nconst t = 4 / 2 / 1;\n",
        "class K { static async export() {} function() {} }\n",
        "const o = { import: 1, await: 2, const: 3 };\no.import;\no.export;\n",
        "for (const [a, b] of []) { a + b; }\n",
    ],
)
def test_what_keeps_the_rules_passes(text: str) -> None:
    link_scripts({"x.js": text}, "x.js")


def test_names_at_the_top_are_those_that_are_declared_there() -> None:
    module = read_module("b.js", B)
    assert module.declared == {"twice": 4}
    assert module.exported == {"twice"}
    assert read_module("a.js", A).declared == {"ONE": 1, "Two": 3}
    assert read_module("x.js", "const x = 1;\nfunction* y() {}\n").exported == frozenset()


def test_one_name_in_two_modules_is_refused() -> None:
    found = fault({"a.js": A, "x.js": 'import { Two } from "./a.js";\n\nfunction ONE() {}\n'})
    assert found == "js/x.js:3:1: 'ONE' is declared in a.js as well; rename it"


def test_what_is_imported_must_be_exported() -> None:
    assert fault({"a.js": A, "x.js": 'import { Three } from "./a.js";\n'}).endswith("a.js does not export 'Three'")
    assert fault({"x.js": 'import { y } from "./y.js";\n'}).endswith("there is no script 'y.js'")


def test_modules_that_import_each_other_are_refused() -> None:
    sources = {
        "a.js": 'import { c } from "./c.js";\nexport const a = 1;\n',
        "b.js": 'import { a } from "./a.js";\nexport const b = 1;\n',
        "c.js": '// of c\nimport { b } from "./b.js";\nexport const c = 1;\n',
    }
    assert "modules import each other: a.js -> c.js -> b.js -> a.js" in fault(sources)


def test_there_must_be_a_script_to_begin_with() -> None:
    with pytest.raises(ConfigError, match=r"main\.js: there is no such script"):
        link_scripts({"a.js": A})


# --- code and text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('a("}")', "a(   )"),
        ("a // }\nb", "a     \nb"),
        ("a /* {\n } */ b", "a     \n      b"),
        (r"a('\'}') + b", "a(     ) + b"),
        ("x = /}/.test(y) / 2", "x =    .test(y) / 2"),
        ("(a) / b / c", "(a) / b / c"),
        ("return /[/}]/;", "return       ;"),
        ("`{${a}{${b + `{${c}`}{`", "    a    b +     c     "),
        ("`a\n{`", "  \n  "),
        ("`\\`{` + a", "      + a"),
        ("f({ a: `${{ b: 1 }.b}` })", "f({ a:    { b: 1 }.b   })"),
        ("'http://x' + a", "           + a"),
    ],
)
def test_text_in_scripts_is_no_code(text: str, code: str) -> None:
    assert masked(text) == code


def test_masking_keeps_every_line_of_the_shipped_scripts_and_balances_them() -> None:
    for name, text in SCRIPTS.items():
        code = masked(text)
        assert [len(line) for line in code.split("\n")] == [len(line) for line in text.split("\n")], name
        for opening, closing in ("()", "[]", "{}"):
            assert code.count(opening) == code.count(closing), name
        assert min(depths(code), default=0) == 0, name
