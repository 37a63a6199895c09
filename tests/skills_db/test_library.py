"""The skill library: versions, search, immutability, weights."""

from __future__ import annotations

import hashlib
import threading

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from skills_db.errors import DamagedRecord, DatabaseError, NotFound


def test_a_saved_skill_comes_back_whole(database, make_draft, clock):
    saved = database.library.save(make_draft(metadata={"plan": {"a": [1]}}, run_id="some-run"))
    assert (saved.skill, saved.version, saved.world, saved.kind) == (
        "collect_wood", 1, "crafter", "coded_action",
    )  # fmt: skip
    assert saved.code_hash == hashlib.sha256(saved.code.encode()).hexdigest()
    assert saved.created_at == clock.now
    assert saved.metadata == {"plan": {"a": [1]}}
    assert database.library.version("collect_wood") == saved
    found = database.library.skill("collect_wood")
    assert (found.versions, found.latest) == (1, saved)
    assert database.library.weights(saved) is None


def test_new_code_makes_a_new_version_and_the_old_one_stays(database, make_draft):
    library = database.library
    first = library.save(make_draft(code="a"))
    second = library.save(make_draft(code="b", description="better", success_rate=0.9))
    assert second.version == 2
    assert library.versions("collect_wood") == (second, first)
    assert library.version("collect_wood", 1) == first
    assert library.skill("collect_wood").description == "better"
    assert first.description == "walks to a tree and takes wood"


def test_the_same_code_and_weights_make_no_new_version(database, make_draft):
    library = database.library
    first = library.save(make_draft("p", kind="policy", weights=b"w"))
    assert library.save(make_draft("p", kind="policy", weights=b"w", success_rate=0.1)) == first
    assert library.save(make_draft("p", kind="policy", weights=b"v")).version == 2
    assert library.save(make_draft("p", kind="policy", weights=b"w")).version == 3


def test_equal_weights_are_stored_once_and_come_back(database, make_draft):
    data = bytes(range(256)) * 4000
    one = database.library.save(make_draft("one", kind="policy", weights=data))
    two = database.library.save(make_draft("two", kind="policy", weights=data))
    assert database.library.weights(one) == database.library.weights(two) == data
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*), sum(size) FROM blobs")).one() == (
            1, len(data),
        )  # fmt: skip


def test_damaged_weights_are_noticed(database, make_draft):
    saved = database.library.save(make_draft("one", kind="policy", weights=b"good"))
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE blobs SET data = x'00'"))
    with pytest.raises(DatabaseError, match="damaged"):
        database.library.weights(saved)


@pytest.mark.parametrize("changes", [{"world": "minedojo"}, {"kind": "policy"}])
def test_a_name_keeps_its_world_and_kind(database, make_draft, changes):
    database.library.save(make_draft())
    with pytest.raises(DatabaseError, match="cannot become") as refused:
        database.library.save(make_draft(code="other", **changes))
    assert "another name" in refused.value.hint
    assert database.library.skill("collect_wood").versions == 1


def test_a_version_cannot_be_changed_even_by_hand(database, make_draft):
    database.library.save(make_draft())
    with (
        pytest.raises(IntegrityError, match="never changes"),
        database.engine.begin() as connection,
    ):
        connection.execute(text("UPDATE skill_versions SET code = 'evil'"))


def test_search_by_words_world_and_kind(database, make_draft, clock):
    library = database.library
    for name, changes in {
        "collect_wood": {"code": "act('do')"},
        "make_table": {"description": "100% places a Table", "code": "place()"},
        "dig_diamond": {"kind": "policy", "description": "learnt", "code": "", "weights": b"1"},
        "chop": {"world": "minedojo", "description": "wood again"},
    }.items():
        clock.pass_seconds(1)
        library.save(make_draft(name, **changes))

    def names(**query: object) -> list[str]:
        return [skill.name for skill in library.skills(**query)]

    assert names() == ["chop", "dig_diamond", "make_table", "collect_wood"]
    assert names(limit=2) == ["chop", "dig_diamond"]
    assert names(words="WOOD") == ["chop", "collect_wood"]
    assert names(words="wood act(") == ["collect_wood"]
    assert names(words="wood nothing") == []
    assert names(words="100% table") == ["make_table"]
    assert names(words="%") == ["make_table"]
    assert names(words="' OR 1=1 --") == []
    assert names(world="minedojo") == ["chop"]
    assert names(kind="policy") == ["dig_diamond"]
    clock.pass_seconds(1)
    library.save(make_draft("make_table", code="new"))
    assert names(limit=1) == ["make_table"]
    assert names(words="place()") == []


def test_what_is_not_there_is_named_with_a_guess(database, make_draft):
    library = database.library
    library.save(make_draft())
    for call in (library.skill, library.version, library.versions):
        with pytest.raises(NotFound, match="'colect_wood'") as missing:
            call("colect_wood")
        assert "'collect_wood'" in missing.value.hint
    with pytest.raises(NotFound, match="no version 7") as missing:
        library.version("collect_wood", 7)
    assert "1 to 1" in missing.value.hint


def test_saving_at_the_same_time_loses_no_version(database, make_draft):
    def save(number: int) -> None:
        for n in range(5):
            database.library.save(make_draft(code=f"{number}.{n}"))

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = database.library.versions("collect_wood")
    assert [version.version for version in versions] == list(range(20, 0, -1))
    assert len({version.code for version in versions}) == 20


def _damage(database, metadata: str) -> None:
    """Writes a version of `collect_wood` by hand, as a broken tool would."""
    with database.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO skill_versions SELECT skill, version + 1, description, 'broken', "
                "'hash', weights_hash, success_rate, episodes, run_id, agents, approver, "
                ":metadata, created_at FROM skill_versions WHERE skill = 'collect_wood'"
            ),
            {"metadata": metadata},
        )
        connection.execute(text("UPDATE skills SET versions = 2 WHERE name = 'collect_wood'"))


@pytest.mark.parametrize("metadata", ["{not json", "[]", "null", "", "3", "[" * 100_000])
def test_a_damaged_skill_is_named_and_hides_no_other(database, make_draft, caplog, metadata):
    library = database.library
    first = library.save(make_draft())
    library.save(make_draft("make_table"))
    _damage(database, metadata)
    for call in (library.skill, library.version):
        with pytest.raises(DamagedRecord, match="'collect_wood' version 2 is damaged") as damaged:
            call("collect_wood")
        assert "another version" in damaged.value.hint
        assert len(damaged.value.message) < 300
    assert library.version("collect_wood", 1) == first
    assert library.versions("collect_wood") == (first,)
    assert not caplog.records or "is damaged" in caplog.text
    caplog.clear()
    assert [skill.name for skill in library.skills()] == ["make_table"]
    assert "'collect_wood' version 2 is damaged" in caplog.text


def test_a_damaged_version_is_followed_by_a_good_one(database, make_draft):
    library = database.library
    library.save(make_draft())
    _damage(database, "{not json")
    saved = library.save(make_draft(code="new"))
    assert saved.version == 3
    assert library.skill("collect_wood").latest == saved
