"""Layers: which folders hold at a place, whom they belong to, and what of a project counts (never a setting)."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.messages_server import MessagesServer
from tests.workspace import Workspace

HEAD = "description: x\nengine: ford\n"


def names(
    ws: Workspace, *args: str | Path, cwd: str | Path | None = None, env: Mapping[str, str] | None = None
) -> list[str]:
    return [row["name"] for row in ws.run("recipes", "list", "--json", *args, cwd=cwd, env=env).expect(0).json]


def path(ws: Workspace, *args: str | Path, cwd: str | Path | None = None) -> list[tuple[str, str, bool]]:
    """`recipes path`, with the workspace's folder as `…`."""
    rows = ws.run("recipes", "path", "--json", *args, cwd=cwd).expect(0).json
    return [(row["layer"], row["path"].replace(str(ws.root), "…"), row["exists"]) for row in rows]


@pytest.fixture
def bare(ws: Workspace) -> Workspace:
    """Without bundled recipes to be listed."""
    ws.write("B/recipes/README.md", "")
    return ws


# Where the layers are.


def test_every_directory_that_is_searched_is_printed(bare: Workspace) -> None:
    bare.recipe("P/recipes/a.yaml")
    bare.recipe("P/lib/b.yaml")
    project, tenant = (
        ("project", "…/project/.vance/recipes", True),
        ("tenant", "…/config/tenants/default/recipes", False),
    )
    bundled = ("bundled", "…/defaults/recipes", True)
    assert path(bare) == [project, tenant, bundled]
    assert path(bare, "--no-project") == [tenant, bundled]
    bare.write("T/../acme/settings.yaml", "")
    assert path(bare, "--tenant", "acme") == [project, ("tenant", "…/config/tenants/acme/recipes", False), bundled]
    assert path(bare, "--recipes", "lib") == [("directory", "…/project/lib", True)]


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"VANCECTL_CONFIG_DIR": None}, "home/.config/vancectl"),
        ({"VANCECTL_CONFIG_DIR": None, "XDG_CONFIG_HOME": "{root}/xdg"}, "xdg/vancectl"),
        ({"VANCECTL_CONFIG_DIR": None, "XDG_CONFIG_HOME": ""}, "home/.config/vancectl"),
        ({"VANCECTL_CONFIG_DIR": None, "XDG_CONFIG_HOME": "relative"}, "home/.config/vancectl"),
        ({"VANCECTL_CONFIG_DIR": None, "XDG_CONFIG_HOME": "{root}/xdg", "HOME": None}, "xdg/vancectl"),
        ({"VANCECTL_CONFIG_DIR": "given"}, "project/given"),
        ({"VANCECTL_CONFIG_DIR": ""}, "home/.config/vancectl"),
    ],
)
def test_the_tenant_layer_lies_where_the_platform_keeps_configuration(
    bare: Workspace, variables: dict[str, str | None], folder: str
) -> None:
    tenant = bare.root / folder / "tenants/default/recipes"
    tenant.mkdir(parents=True)
    (tenant / "w.yaml").write_text(HEAD + "triggers: {keywords: [abc]}\n")
    env = {name: value and value.format(root=bare.root) for name, value in variables.items()}
    assert bare.run("select", "--json", "abc", env=env).expect(0).json["recipe"] == "w"
    assert str(tenant) in [row["path"] for row in bare.run("recipes", "path", "--json", env=env).expect(0).json]


@pytest.mark.parametrize(
    "variables",
    [
        {"HOME": ""},
        {"HOME": "", "XDG_CONFIG_HOME": ""},
        {"HOME": "."},
        {"HOME": "~"},
        {"HOME": "a/b"},
        {"HOME": "", "XDG_CONFIG_HOME": "xdg"},
    ],
)
def test_without_a_home_the_tenant_layer_is_left_out(bare: Workspace, variables: dict[str, str]) -> None:
    bare.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    folders = dict.fromkeys(("VANCECTL_CONFIG_DIR", "VANCECTL_STATE_DIR", "VANCECTL_CACHE_DIR"))
    decision = bare.run("select", "-v", "--json", "fix tests", env={**folders, **variables}).expect(0)
    assert decision.json["recipe"] == "good"
    note = "no home directory: the tenant layer is left out (set HOME to an absolute path, or set VANCECTL_CONFIG_DIR)"
    assert note in decision.stderr
    layers = bare.run("recipes", "path", "--json", env={**folders, **variables}).expect(0)
    assert [row["layer"] for row in layers.json] == ["project", "bundled"]
    assert layers.stderr == ""
    assert sorted(each.name for each in bare.project.iterdir()) == [".vance"]


# Folders given with --recipes.


def test_given_folders_replace_the_cascade_nearest_first(bare: Workspace) -> None:
    bare.recipe("P/recipes/project.yaml")
    bare.recipe("P/near/both.yaml", "near")
    far = bare.recipe("P/far/both.yaml", "far")
    bare.recipe("P/far/only.yaml")
    rows = bare.run("recipes", "list", "--json", "--recipes", "near", "--recipes", "far").expect(0).json
    assert [(row["name"], row["layer"], row["description"]) for row in rows] == [
        ("both", "directory", "near"),
        ("only", "directory", "A recipe of the test."),
    ]
    assert rows[0]["shadows"] == [str(far)]
    assert Path(rows[0]["path"]).is_absolute()


@pytest.mark.parametrize("given", ["nope", "file.yaml", "dead"])
def test_a_given_folder_must_be_there(bare: Workspace, given: str) -> None:
    bare.write("P/file.yaml", HEAD)
    (bare.project / "dead").symlink_to("nowhere")
    assert bare.run("recipes", "list", "--recipes", given).expect(2).stderr == (
        f"error: no such folder of recipes: {given}\n  help: name an existing directory with --recipes\n"
    )


def test_no_directory_shadows_itself(bare: Workspace) -> None:
    bare.recipe("P/recipes/a.yaml")
    recipes = bare.path("P/recipes/a.yaml").parent
    (bare.project / "again").symlink_to(recipes)
    (row,) = bare.run("recipes", "list", "--json", "--recipes", recipes, "--recipes", "again").expect(0).json
    assert (row["name"], row["shadows"]) == ("a", [])
    both = {"VANCECTL_DEFAULTS_DIR": str(recipes.parent)}
    (row,) = bare.run("recipes", "list", "--json", env=both).expect(0).json
    assert (row["name"], row["layer"], row["shadows"]) == ("a", "project", [])


# Projects.


@pytest.mark.parametrize("folder", [".vance", "_vance"])
def test_a_project_is_found_by_walking_up(bare: Workspace, folder: str) -> None:
    bare.write(f"P/{folder}/recipes/root.yaml", HEAD)
    bare.write("P/sub/dir/x", "")
    assert names(bare) == names(bare, cwd="P/sub/dir") == names(bare, cwd=f"P/{folder}/recipes") == ["root"]
    assert names(bare, "--no-project", cwd="P/sub") == []


def test_of_two_project_folders_side_by_side_one_counts_and_the_other_is_said(bare: Workspace) -> None:
    bare.write("P/.vance/recipes/dotted.yaml", HEAD)
    other = bare.write("P/_vance/recipes/plain.yaml", HEAD).parents[1]
    listing = bare.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json] == ["dotted"]
    assert listing.stderr == (
        f"warning: {other}: is not used, since {bare.project / '.vance'} is beside it (merge the two)\n"
    )


def test_in_a_repository_of_many_projects_the_nearer_one_wins_and_the_outer_one_serves(bare: Workspace) -> None:
    bare.recipe("P/recipes/root.yaml")
    outer = bare.recipe("P/recipes/both.yaml", "outer")
    for service in "ab":
        bare.write(f"P/services/{service}/.vance/recipes/{service}.yaml", HEAD)
        bare.write(f"P/services/{service}/.vance/recipes/both.yaml", HEAD)
        bare.write(f"P/services/{service}/src/x", "")
    rows = bare.run("recipes", "list", "--json", cwd="P/services/a/src").expect(0).json
    assert [row["name"] for row in rows] == ["both", "root", "a"]
    assert (rows[0]["description"], rows[0]["shadows"]) == ("x", [str(outer)])


def test_the_walk_ends_at_the_top_of_a_repository(bare: Workspace) -> None:
    bare.recipe("P/recipes/outer.yaml")
    bare.write("P/clone/.git/HEAD", "ref: refs/heads/main\n")
    bare.write("P/clone/src/x", "")
    bare.write("P/tree/.git", "gitdir: ../.git/worktrees/tree\n")
    bare.write("P/tree/src/x", "")
    assert names(bare, cwd="P/clone/src") == names(bare, cwd="P/tree/src") == []


def test_a_linked_work_tree_is_a_project_of_its_own(bare: Workspace) -> None:
    git = ["git", "-C", str(bare.project), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", ".trees/w1"], check=True, capture_output=True)
    bare.recipe("P/recipes/outer.yaml")
    bare.write("P/.trees/w1/.vance/recipes/inner.yaml", HEAD)
    assert names(bare, cwd="P/.trees/w1") == ["inner"]
    assert names(bare) == ["outer"]


def test_what_git_tells_its_hooks_does_not_move_the_project(bare: Workspace) -> None:
    bare.recipe("P/recipes/root.yaml", triggers=["abc"])
    bare.write("P/sub/x", "")
    env = {"GIT_DIR": str(bare.home / ".git"), "GIT_INDEX_FILE": str(bare.home / ".git/index"), "GIT_WORK_TREE": "/"}
    assert bare.run("select", "--json", "abc", cwd="P/sub", env=env).expect(0).json["recipe"] == "root"


def test_outside_of_any_project_tenant_and_bundled_layers_serve(bare: Workspace) -> None:
    bare.recipe("T/recipes/t.yaml", triggers=["abc"])
    bare.recipe("B/recipes/default.yaml")
    assert bare.run("select", "--json", "abc", cwd="H/").expect(0).json["recipe"] == "t"
    assert names(bare, cwd=Path("/")) == ["default", "t"]


@pytest.mark.parametrize("config", [".config/vancectl", ".vance"])
def test_the_home_directory_is_no_other_layer_than_it_is(bare: Workspace, config: str) -> None:
    bare.write(f"H/{config}/tenants/default/recipes/mine.yaml", HEAD)
    bare.write("H/work/readme", "")
    env = {"VANCECTL_CONFIG_DIR": str(bare.home / config)}
    for cwd in ("H/", "H/work"):
        (row,) = bare.run("recipes", "list", "--json", cwd=cwd, env=env).expect(0).json
        assert (row["name"], row["layer"], row["shadows"]) == ("mine", "tenant", [])


# A project folder that is none.


@pytest.mark.parametrize("name", [".vance", "_vance"])
def test_a_file_in_place_of_the_project_folder_is_said(bare: Workspace, name: str) -> None:
    file = bare.write(f"P/{name}", "../shared/.vance")
    bare.recipe("T/recipes/good.yaml")
    listing = bare.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json] == ["good"]
    assert listing.stderr == (
        f"warning: {file}: is a file where a folder of recipes is expected (replace it by a folder)\n"
    )


def test_a_file_in_place_of_the_folder_of_recipes_is_said(bare: Workspace) -> None:
    file = bare.write("P/.vance/recipes", "../shared/recipes")
    bare.recipe("T/recipes/good.yaml")
    listing = bare.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json] == ["good"]
    assert listing.stderr == (
        f"warning: {file}: is a file where a folder of recipes is expected (replace it by a folder)\n"
    )


@pytest.mark.parametrize(
    ("link", "target", "said"),
    [
        (".vance", "nowhere", "{link}: is a link to nowhere, which is not there (correct or remove the link)"),
        (".vance", ".vance", "{link}: is a link to .vance, which is not there (correct or remove the link)"),
        (".vance/recipes", "recipes",
         "{link}: the folder cannot be read (too many levels of symbolic links), so what it hides is unknown"
         " (make it readable, or move it away)"),
        (".vance/recipes", "../../outside",
         "{link}: the folder is a link that leaves the project ({root}/outside) (name it with --recipes)"),
        (".vance", "../outside",
         "{link}/recipes: the folder is a link that leaves the project ({root}/outside/recipes)"
         " (name it with --recipes)"),
    ],
)  # fmt: skip
def test_a_project_folder_that_is_a_bad_link_brings_nothing(bare: Workspace, link: str, target: str, said: str) -> None:
    for folder in (bare.root / "outside", bare.root / "outside/recipes"):
        folder.mkdir()
        (folder / "evil.yaml").write_text(HEAD)
    place = bare.project / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(target)
    bare.recipe("T/recipes/good.yaml")
    listing = bare.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json if row["name"] != "recipe-selector"] == ["good"]
    assert listing.stderr == f"warning: {said.format(link=place, root=bare.root)}\n"


def test_a_project_folder_may_be_a_link_within_the_project(bare: Workspace) -> None:
    bare.write("P/agents/recipes/a.yaml", HEAD)
    (bare.project / ".vance").symlink_to("agents")
    assert names(bare) == ["a"]


# What project.yaml says.


def test_the_project_names_its_tenant_and_the_caller_another(bare: Workspace) -> None:
    for tenant in ("default", "acme", "other", "env"):
        bare.write(f"T/../{tenant}/recipes/of-{tenant}.yaml", HEAD)
    assert names(bare) == ["of-default"]
    bare.write("P/project.yaml", "id: shop\ntenant: acme\nhub: yes\n")
    assert names(bare) == ["of-acme"]
    assert names(bare, "--no-project") == ["of-default"]
    bare.env["VANCECTL_TENANT"] = "env"
    assert names(bare) == ["of-env"]
    assert names(bare, "--tenant", "other") == ["of-other"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ""),
        ("# nothing yet\n", ""),
        ("tenant:\n", ""),
        ("- a\n", ":1:1: top level must be a mapping (found a list) (write `key: value` lines)"),
        ("hub: maybe\n", ":1:6: `hub` must be true or false (found text) (write true or false)"),
        ("tenant: [a]\n", ":1:9: `tenant` must be text (found a list) (write text)"),
        ("tennant: a\n", ":1:1: the key `tennant` is not known here and has no effect; did you mean `tenant`?"
         "; a project has no settings (rename or drop it)"),
        ("spawn: {command: [evil]}\n", ":1:1: the key `spawn` is not known here and has no effect"
         "; a project has no settings (rename or drop it)"),
        ("id: [\n", ":2:1: is not valid YAML: did not find expected node content (correct the syntax near this place)"),
        (b"\xff", ":1: is not UTF-8 text (save the file as UTF-8)"),
    ],
)  # fmt: skip
def test_a_fault_in_project_yaml_is_said_and_hides_nothing(bare: Workspace, content: str | bytes, said: str) -> None:
    file = bare.write("P/project.yaml", content)
    bare.recipe("P/recipes/a.yaml")
    bare.recipe("T/recipes/t.yaml")
    listing = bare.run("recipes", "list", "--json").expect(0)
    assert [row["name"] for row in listing.json] == ["t", "a"]
    assert listing.stderr == (f"warning: {file}{said}\n" if said else "")


def test_a_tenant_that_a_project_chose_is_said(bare: Workspace) -> None:
    bare.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    bare.write("T/../acme/settings.yaml", "spawn: {command: ['true'], stdin: none}\n")
    file = bare.write("P/project.yaml", "tenant: acme\n")
    named = {"name": "acme", "namedBy": str(file)}
    note = f"note: the tenant is `acme`, since {file} names it\n"
    for command in (["select"], ["delegate"], ["delegate", "--recipe", "good"], ["batch", "-"]):
        said = bare.run(*command, *([] if command[0] == "batch" else ["fix tests"]), stdin="fix tests\n").expect()
        assert (said.jsonl[0] if command[0] == "batch" else said.json)["tenant"] == named
        assert said.stderr.count(note) == 1
    assert bare.run("select", "-q", "fix tests").expect().stderr == ""
    (row,) = [row for row in bare.run("recipes", "path", "--json").expect().json if row["layer"] == "tenant"]
    assert (row["tenant"], row["tenantSource"], row["tenantOrigin"]) == ("acme", "project", str(file))
    assert f"acme (named by {file})" in bare.run("recipes", "path", tty=True, columns=300).expect().stdout


@pytest.mark.parametrize("how", [["--tenant", "acme"], ["--no-project"], []], ids=["option", "no-project", "variable"])
def test_a_tenant_that_the_user_chose_is_no_news(bare: Workspace, how: list[str]) -> None:
    bare.recipe("T/recipes/good.yaml", triggers=["fix tests"])
    bare.write("T/../acme/recipes/good.yaml", HEAD + "triggers: {keywords: [fix tests]}\n")
    bare.write("P/project.yaml", "tenant: acme\n")
    said = bare.run("select", *how, "fix tests", env={} if how else {"VANCECTL_TENANT": "acme"}).expect()
    assert "tenant" not in said.json
    assert said.stderr == ""


STRICT = "selector: {backend: off}\nspawn: {preset: none}\nrouting: {fallback: {recipe: ''}}\nlog: {decisions: false}\n"


COMMANDS = [
    "select fix-tests", "select else", "delegate fix-tests", "chat hello", "recipes list", "recipes path",
    "recipes lint", "settings show", "check",
]  # fmt: skip


@pytest.mark.parametrize(
    ("how", "what", "command"),
    [
        *[("project", "nothing", command) for command in COMMANDS],
        *[("project", what, "delegate fix-tests") for what in ("file", "dead-link")],
        *[(how, "nothing", command) for how in ("option", "variable") for command in ("delegate x", "settings show")],
    ],
)
def test_a_tenant_that_is_not_there_is_an_error(
    bare: Workspace, messages: MessagesServer, how: str, what: str, command: str
) -> None:
    bare.recipe("P/recipes/good.yaml", triggers=["fix-tests"])
    bare.write("T/settings.yaml", STRICT)
    bare.model(messages)
    folder = bare.config / "tenants/acme"
    if what == "file":
        folder.write_text("")
    elif what == "dead-link":
        folder.symlink_to("nowhere")
    words, env, where, named = command.split(), {}, "", ""
    if how == "project":
        where = f"{bare.write('P/project.yaml', 'tenant: acme')}: "
    elif how == "option":
        words, named = [*words, "--tenant", "acme"], ", which --tenant names"
    else:
        env, named = {"VANCECTL_TENANT": "acme"}, ", which VANCECTL_TENANT names"
    failed = bare.run(*words, env=env).expect(2)
    assert failed.stdout == ""
    assert failed.stderr.startswith(f"error: {where}there is no tenant `acme`{named}: {folder} is no folder\n  help: ")
    assert messages.requests == []
    assert not bare.state.exists()


def test_a_tenant_that_is_nearly_there_is_named(bare: Workspace) -> None:
    bare.write("T/../acme/settings.yaml", "")
    assert "did you mean `acme`?" in bare.run("recipes", "list", "--tenant", "acne").expect(2).stderr


@pytest.mark.parametrize("how", [["--tenant", "default"], []], ids=["option", "variable"])
def test_the_default_tenant_may_be_missing(bare: Workspace, how: list[str]) -> None:
    bare.recipe("P/recipes/a.yaml")
    env = {} if how else {"VANCECTL_TENANT": "default"}
    assert names(bare, *how, env=env) == ["a"]


def test_a_named_tenant_without_a_home(bare: Workspace) -> None:
    env = {"HOME": "", "VANCECTL_CONFIG_DIR": None}
    failed = bare.run("recipes", "list", "--tenant", "acme", env=env).expect(2)
    assert "without a home directory there is no tenant `acme`, which --tenant names\n  help: set HOME" in failed.stderr


@pytest.mark.parametrize("tenant", ["", "../../other", "/etc", "a/b", ".hidden", "-x", " "])
def test_a_tenant_s_name_is_no_path(bare: Workspace, tenant: str) -> None:
    rule = "  help: use letters, digits, `-`, `_` and `.`, beginning with a letter or digit\n"
    said = f"`{tenant}` is no tenant's name\n{rule}"
    assert bare.run("recipes", "list", f"--tenant={tenant}").expect(2).stderr == f"error: {said}"
    if tenant:  # an empty one in the file is none
        file = bare.write("P/project.yaml", f"tenant: '{tenant}'\n")
        assert bare.run("recipes", "list").expect(2).stderr == f"error: {file}: {said}"


SETTINGS = """\
spawn: {command: [evil], engines: {ford: {command: [evil]}}, env: {X: evil}}
selector: {backend: command, command: [evil], model: evil}
routing: {fallback: {recipe: evil}, recipeListLimit: 1}
models: {default:fast: evil}
"""


def test_a_project_has_no_settings(bare: Workspace) -> None:
    bare.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    bare.recipe("B/recipes/default.yaml")
    bare.settings({"spawn.command": ["true", "{task}"]})
    bare.program("evil", "touch evil-ran")
    commands = (
        ("settings", "show", "--json"),
        ("select", "--json", "what is this"),
        ("delegate", "--dry-run", "--json", "--name", "n", "fix tests"),
        ("delegate", "--dry-run", "--json", "--name", "n", "what is this"),
    )
    before = [bare.run(*command) for command in commands]
    for place in ("settings.yaml", ".vance/settings.yaml", ".vance/recipes/settings.yml", "_vance/settings.yaml",
                  ".vance/tenants/default/settings.yaml"):  # fmt: skip
        bare.write(f"P/{place}", SETTINGS)
    (bare.project / ".env").write_text("VANCECTL_SPAWN__COMMAND='[\"evil\"]'\n")
    after = [bare.run(*command) for command in commands]
    assert [run.status for run in before] == [0, 0, 0, 0]
    assert [run.stdout for run in before] == [run.stdout for run in after]
    assert "evil" not in "".join(run.stdout for run in after)
    assert not (bare.project / "evil-ran").exists()


# Files of other people, and files that may not be read.

STRANGER = 54321


@pytest.fixture
def theirs() -> Iterator[Workspace]:
    """A workspace in which the command runs as an ordinary user whom the system does not know."""
    if os.geteuid() != 0:
        pytest.skip("only root can run the command as another user")
    root = Path(tempfile.mkdtemp())
    ws = Workspace(root)
    ws.command = ("setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", *ws.command)
    root.chmod(0o755)
    try:
        if not shutil.which("setpriv") or ws.run("--version", cwd=Path("/")).status != 0:
            pytest.skip("the command cannot be run as another user here: setpriv, or the right to read it, is missing")
        ws.write("B/recipes/README.md", "")
        yield ws
    finally:
        ws.close()
        subprocess.run(["rm", "-rf", root], check=True)


def give(ws: Workspace) -> None:
    for each in (ws.root, *ws.root.rglob("*")):
        os.chown(each, STRANGER, STRANGER, follow_symlinks=False)


def test_without_home_and_account_the_project_serves(theirs: Workspace) -> None:
    theirs.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    give(theirs)
    env = dict.fromkeys(("HOME", "VANCECTL_CONFIG_DIR", "VANCECTL_STATE_DIR", "VANCECTL_CACHE_DIR"))
    decision = theirs.run("select", "--json", "-v", "fix tests", env=env).expect(0)
    assert decision.json["recipe"] == "good"
    assert "no home directory: the tenant layer is left out" in decision.stderr


def test_what_may_not_be_read_is_said_and_hides_nothing(theirs: Workspace) -> None:
    theirs.recipe("P/recipes/good.yaml", triggers=["fix tests"])
    secret, closed = theirs.recipe("P/recipes/secret.yaml"), theirs.recipe("P/recipes/closed/a.yaml").parent
    tenant = theirs.recipe("T/recipes/t.yaml").parent
    (secret.parent / "out.yaml").symlink_to("/root/x.yaml")
    give(theirs)
    for each in (secret, closed, tenant):
        each.chmod(0)
    decision = theirs.run("select", "--json", "fix tests").expect(0)
    assert decision.json["recipe"] == "good"
    assert decision.stderr.splitlines() == [
        f"warning: {tenant}: the folder cannot be read (permission denied), so what it hides is unknown"
        " (make it readable, or move it away)",
        f"warning: {closed}: the folder cannot be read (permission denied), so what it hides is unknown"
        " (make it readable, or move it away)",
        f"warning: broken recipe left out: {secret.parent}/out.yaml: is a link that leaves its layer (/root/x.yaml)"
        " (copy the file into the layer)",
        f"warning: broken recipe left out: {secret}: cannot be read: permission denied"
        " (make it readable, or move it away)",
    ]
    secret.chmod(0o644)  # and nothing remembers that it could not be read
    assert theirs.run("recipes", "show", "secret", "--json").expect(0).json["name"] == "secret"


@pytest.mark.parametrize("closed", ["recipes", "recipes/team", "recipes/Team"])
def test_a_folder_that_may_not_be_read_uncovers_nothing(theirs: Workspace, closed: str) -> None:
    """What it holds is unknown, so nothing beneath decides for a name that it may hold."""
    theirs.recipe("P/recipes/own.yaml", triggers=["fix tests"])
    theirs.recipe(f"P/{closed}/x.yaml", engine="vogon", triggers=["ship it"])
    theirs.recipe("T/recipes/team/x.yaml", engine="ford", triggers=["ship it"])
    theirs.recipe("T/recipes/team/y.yaml", engine="ford", triggers=["shop it"])
    give(theirs)
    theirs.path(f"P/{closed}").chmod(0)
    for task in ("ship it", "shop it"):
        decision = theirs.run("select", task).expect()
        assert decision.json["decision"] == "NONE"
        assert "cannot be read (permission denied)" in " ".join(decision.json["warnings"])
    for name in ("team/x", "team/y", "team/never-heard-of"):
        refused = theirs.run("delegate", "--dry-run", "--recipe", name, "x").expect(2)
        assert f"the recipe `{name}` is broken: the folder cannot be read (permission denied)" in refused.stderr
        theirs.run("recipes", "show", name).expect(2)
    rows = {row["name"]: row for row in theirs.run("recipes", "list").expect().json}
    assert "error" in rows["team/x"]
    assert rows["team/x"]["shadows"] == [str(theirs.path("T/recipes/team/x.yaml"))]
    assert "folder-unreadable" in theirs.run("recipes", "lint").expect(1).stdout
    if closed != "recipes":
        assert theirs.run("select", "fix tests").expect().json["recipe"] == "own"
    theirs.path(f"P/{closed}").chmod(0o755)
    assert "error" not in theirs.run("recipes", "show", "team/x").expect().json


def test_a_project_folder_that_may_not_be_looked_into_hides_nothing(theirs: Workspace) -> None:
    theirs.write("P/project.yaml", "tenant: acme\n")
    folder = theirs.recipe("P/recipes/a.yaml").parents[1]
    theirs.recipe("T/recipes/t.yaml")
    give(theirs)
    folder.chmod(0)
    listing = theirs.run("recipes", "list", "--json").expect(0)
    assert [(row["layer"], "unknown" in row["error"]) for row in listing.json if row["name"] == "t"] == [
        ("project", True)
    ]
    assert listing.stderr == (
        f"warning: {folder}/project.yaml: cannot be read: permission denied (make it readable, or move it away)\n"
        f"warning: {folder}/recipes: the folder cannot be read (permission denied), so what it hides is unknown"
        " (make it readable, or move it away)\n"
    )
    theirs.run("recipes", "path").expect(0)


def test_a_folder_of_another_user_above_the_working_directory_is_not_used(theirs: Workspace) -> None:
    trap = theirs.write("P/.vance/recipes/evil.yaml", HEAD + "triggers: {keywords: [fix]}\n").parents[1]
    theirs.recipe("T/recipes/mine.yaml")
    theirs.write("P/me/x", "")
    give(theirs)
    os.chown(trap, 0, 0)
    listing = theirs.run("recipes", "list", "--json", "-v", cwd="P/me").expect(0)
    assert [row["name"] for row in listing.json] == ["mine"]
    assert listing.stderr == (
        f"warning: {trap}: belongs to another user and is not used"
        " (work inside it, take ownership, or name it with --recipes)\n"
    )
    assert names(theirs) == ["mine", "evil"]  # who works in the folder itself has chosen it


def test_with_sudo_the_folders_of_the_caller_are_used(theirs: Workspace) -> None:
    theirs.write("P/.vance/recipes/mine.yaml", HEAD)
    theirs.write("P/sub/x", "")
    give(theirs)
    theirs.command = theirs.command[-1:]
    assert names(theirs, cwd="P/sub") == []
    theirs.env["SUDO_UID"] = str(STRANGER)
    assert names(theirs, cwd="P/sub") == ["mine"]


@pytest.mark.parametrize("strange", ["P/shared", "P/shared/in-between"])
def test_a_folder_of_another_user_on_the_way_is_as_one_that_is_there(bare: Workspace, strange: str) -> None:
    """As with git: who owns a folder can put a project of somebody's into it."""
    if os.geteuid() != 0:
        pytest.skip("only root can give folders away")
    trap = bare.write("P/shared/.vance/recipes/evil.yaml", HEAD).parents[1]
    bare.write("P/shared/in-between/me/x", "")
    assert names(bare, cwd="P/shared/in-between/me") == ["evil"]
    os.chown(bare.path(strange), STRANGER, STRANGER)
    listing = bare.run("recipes", "list", "-v", cwd="P/shared/in-between/me").expect(0)
    assert listing.json == []
    assert listing.stderr.startswith(
        f"warning: {trap}: is not used, since {bare.path(strange)} belongs to another user"
    )
