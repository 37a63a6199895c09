"""The skill library: named skills with versions that never change."""

from __future__ import annotations

import difflib
import hashlib
import logging
from typing import cast

from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session

from skills_db.connection import Store
from skills_db.errors import DamagedRecord, DatabaseError, NotFound
from skills_db.models import Blob, Skill, SkillVersion
from skills_db.records import SkillDraft, SkillKind, SkillRecord, SkillVersionRecord

_log = logging.getLogger(__name__)


class Library(Store):
    """Saves and finds skills. Each method is one transaction; any thread may call it."""

    def save(self, draft: SkillDraft) -> SkillVersionRecord:
        """Saves the next version of the skill's name.

        The same code and weights as the newest version make no new one: that one is returned,
        unless it is damaged: then the new version is the one to use.

        Raises:
            DatabaseError: the name belongs to a skill of another world or kind.
        """
        code_hash = hashlib.sha256(draft.code.encode()).hexdigest()
        weights_hash = None if draft.weights is None else hashlib.sha256(draft.weights).hexdigest()
        with self._write() as session:
            skill = session.get(Skill, draft.name, with_for_update=True)
            if skill is None:
                skill = Skill(name=draft.name, world=draft.world, kind=draft.kind, versions=0)
            elif (skill.world, skill.kind) != (draft.world, draft.kind):
                raise DatabaseError(
                    f"The skill {draft.name!r} is a {skill.kind} of {skill.world!r}; it cannot "
                    f"become a {draft.kind} of {draft.world!r}.",
                    "Save it under another name.",
                )
            else:
                newest = _undamaged(session, skill.name, skill.versions)
                if newest is not None and (newest.code_hash, newest.weights_hash) == (
                    code_hash,
                    weights_hash,
                ):
                    return _version(skill, newest)
            if draft.weights is not None and weights_hash is not None:
                _keep_blob(session, weights_hash, draft.weights)
            skill.versions += 1
            skill.description = draft.description
            skill.updated_at = self._clock()
            session.add(skill)
            session.flush()
            row = SkillVersion(
                skill=skill.name,
                version=skill.versions,
                description=draft.description,
                code=draft.code,
                code_hash=code_hash,
                weights_hash=weights_hash,
                success_rate=draft.success_rate,
                episodes=draft.episodes,
                run_id=draft.run_id,
                agents=draft.agents,
                approver=draft.approver,
                metadata_=draft.metadata,
                created_at=skill.updated_at,
            )
            session.add(row)
            session.flush()
            return _version(skill, row)

    def skills(
        self,
        *,
        words: str = "",
        world: str | None = None,
        kind: SkillKind | None = None,
        limit: int = 200,
    ) -> tuple[SkillRecord, ...]:
        """Skills, the last changed first; one whose newest version is damaged is left out.

        Args:
            words: each must occur in name, description or code of the newest version; upper and
                lower case do not matter.
        """
        query = _with_newest(select(Skill, SkillVersion.version))
        query = query.order_by(Skill.updated_at.desc(), Skill.name).limit(limit)
        for word in words.split():
            places = (Skill.name, Skill.description, SkillVersion.code)
            query = query.where(or_(*(place.icontains(word, autoescape=True) for place in places)))
        if world is not None:
            query = query.where(Skill.world == world)
        if kind is not None:
            query = query.where(Skill.kind == kind)
        with self._read() as session:
            return tuple(
                _skill(skill, newest)
                for skill, number in session.execute(query)
                if (newest := _undamaged(session, skill.name, number)) is not None
            )

    def skill(self, name: str) -> SkillRecord:
        """One skill by its name.

        Raises:
            NotFound: no such skill; the hint names one that is written alike.
            DamagedRecord: its newest version is damaged.
        """
        with self._read() as session:
            skill = session.get(Skill, name)
            row = None if skill is None else _row(session, name, skill.versions)
            if skill is None or row is None:
                raise _no_skill(session, name)
            return _skill(skill, row)

    def versions(self, name: str) -> tuple[SkillVersionRecord, ...]:
        """All versions of a skill, the newest first; damaged ones are left out."""
        query = (
            select(SkillVersion.version)
            .where(SkillVersion.skill == name)
            .order_by(SkillVersion.version.desc())
        )
        with self._read() as session:
            skill = session.get(Skill, name)
            if skill is None:
                raise _no_skill(session, name)
            return tuple(
                _version(skill, row)
                for number in session.scalars(query)
                if (row := _undamaged(session, name, number)) is not None
            )

    def version(self, name: str, number: int | None = None) -> SkillVersionRecord:
        """One version of a skill; the newest when no number is given.

        Raises:
            NotFound: no such skill or version.
            DamagedRecord: the version is damaged.
        """
        with self._read() as session:
            skill = session.get(Skill, name)
            if skill is None:
                raise _no_skill(session, name)
            wanted = skill.versions if number is None else number
            # More than a database's integer holds is no version either.
            row = _row(session, name, wanted) if 0 < wanted < 2**31 else None
            if row is None:
                raise NotFound(
                    f"The skill {name!r} has no version {wanted!r}.",
                    f"Its versions are 1 to {skill.versions}.",
                )
            return _version(skill, row)

    def weights(self, version: SkillVersionRecord) -> bytes | None:
        """The policy's weights (safetensors); None for a coded action.

        Raises:
            DatabaseError: what is stored is not what was saved.
        """
        if version.weights_hash is None:
            return None
        with self._read() as session:
            blob = session.get(Blob, version.weights_hash)
            data = None if blob is None else blob.data
        if data is None or hashlib.sha256(data).hexdigest() != version.weights_hash:
            raise DatabaseError(
                f"The weights of {version.skill!r} version {version.version} are damaged.",
                "Bring back a copy of the database, or train the skill again.",
            )
        return data


def _keep_blob(session: Session, sha256: str, data: bytes) -> None:
    if session.get(Blob, sha256) is None:
        session.add(Blob(sha256=sha256, size=len(data), data=data))
        session.flush()


def _row(session: Session, name: str, number: int) -> SkillVersion | None:
    try:
        return session.get(SkillVersion, (name, number))
    except DamagedRecord as error:
        raise DamagedRecord(
            f"The skill {name!r} version {number} is damaged. {error.message}",
            "Use another version of it, bring back a copy of the database, or save it anew.",
        ) from error


def _undamaged(session: Session, name: str, number: int) -> SkillVersion | None:
    """The row; None, and a warning in the log, when it is damaged: the others can still be used."""
    try:
        return _row(session, name, number)
    except DamagedRecord as error:
        _log.warning("%s %s", error.message, error.hint)
        return None


def _with_newest(query: Select[Skill, int]) -> Select[Skill, int]:
    newest = and_(SkillVersion.skill == Skill.name, SkillVersion.version == Skill.versions)
    return query.join(SkillVersion, newest)


def _no_skill(session: Session, name: str) -> NotFound:
    alike = difflib.get_close_matches(name, session.scalars(select(Skill.name)).all(), n=1)
    hint = f"Did you mean {alike[0]!r}?" if alike else "`rlgpt-studio skills list` shows them all."
    return NotFound(f"There is no skill {name!r}.", hint)


def _skill(skill: Skill, newest: SkillVersion) -> SkillRecord:
    return SkillRecord(
        name=skill.name,
        world=skill.world,
        kind=cast(SkillKind, skill.kind),
        description=skill.description,
        versions=skill.versions,
        latest=_version(skill, newest),
    )


def _version(skill: Skill, row: SkillVersion) -> SkillVersionRecord:
    return SkillVersionRecord(
        skill=row.skill,
        version=row.version,
        world=skill.world,
        kind=cast(SkillKind, skill.kind),
        description=row.description,
        code=row.code,
        code_hash=row.code_hash,
        weights_hash=row.weights_hash,
        success_rate=row.success_rate,
        episodes=row.episodes,
        run_id=row.run_id,
        agents=row.agents,
        approver=row.approver,
        metadata=row.metadata_,
        created_at=row.created_at,
    )
