"""The inner loop for one sub-action: write, check, approve, try, judge, write again."""

from __future__ import annotations

from engine.agents.last_frame import FirstFailure
from engine.agents.plan import CodeProposal, Critique, Plan, SubAction, Trial
from engine.agents.protocols import CodeDraft, Feedback, KnownSkill
from engine.agents.trials import TrialRunner
from engine.errors import AgentError
from engine.events import AgentSaid, CodeDecided, CodeProposed, CritiqueGiven, TrialFinished
from engine.rl.watched import Watched
from engine.run.approval import UNASKED, Answer, ask, decides_itself
from engine.run.dead_loops import version_repeated
from engine.run.history import events_of
from engine.run.progress import CodeWork
from engine.run.session import RunStopped, Session
from skills_db.records import RunState

CHECK = "check"
CHECK_ATTEMPTS = 3
TRIAL_SEED_START = 500_000
"""Trials use seeds of their own, apart from training (below) and evaluation (above)."""
SHOWN_FRAMES_PER_SECOND = 15.0
SHOWN_SECONDS = 6.0


class Coder:
    """Brings the coded sub-actions of one approved plan to working code."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self._session = session
        self._shown = 0
        self._first_failure = FirstFailure()
        self._runner = TrialRunner(
            session.world,
            session.sandbox,
            plan,
            seeds=range(TRIAL_SEED_START, TRIAL_SEED_START + session.config.trials),
            on_frame=self._show,
            on_end=self._look,
            should_stop=lambda: session.control() in ("abort", "stop_and_keep"),
        )

    def code(self, action: SubAction) -> bool:
        """Bring one sub-action to usable code; False when the retries are spent.

        Code whose precondition no trial could bring about is not to blame for it: it is kept
        as it is instead of being written again.
        """
        session = self._session
        work = session.progress.codes.get(action.name)
        if work is not None and work.sub_action != action:
            work = None
        while True:
            if work is None or work.critique is not None:
                fresh = self._next_version(action, work)
                if fresh is None:
                    return False
                work = fresh
            if work.approved_by is None:
                work = self._decide(work)
            if work.approved_by is None:
                continue
            work = self._try(work)
            if work.is_usable:
                return True
            if work.failures > session.config.code_retries:
                self._store(work.model_copy(update={"given_up": True}))
                return False

    # --- write --------------------------------------------------------------------------

    def _next_version(self, action: SubAction, work: CodeWork | None) -> CodeWork | None:
        """The next version, or None when the fast agent has nothing (new) to offer."""
        session = self._session
        session.enter(RunState.CODING, action.name)
        base = None if work is None else work.proposal
        try:
            proposal = _write(session, action, base, _feedback(work))
            if not proposal.passed_check and decides_itself(session):
                raise AgentError(f"version {proposal.version} does not pass the check")
            repeated = version_repeated(session, proposal)
            if repeated is not None:
                raise AgentError(
                    f"version {proposal.version} is version {repeated} again: a dead loop"
                )
        except AgentError as error:
            author = session.agents.fast.author
            session.emit(
                AgentSaid(role="fast", author=author, text=f"{action.name}: {error.message}")
            )
            if work is not None:
                self._store(work.model_copy(update={"given_up": True}))
            return None
        failures = 0 if work is None else work.failures
        fresh = CodeWork(sub_action=action, proposal=proposal, failures=failures)
        session.save(CodeProposed(proposal=proposal), codes=self._with(fresh))
        return fresh

    # --- approve ------------------------------------------------------------------------

    def _decide(self, work: CodeWork) -> CodeWork:
        """Ask about the newest version until it is rejected, or approved and passes the check."""
        session = self._session
        while True:
            proposal = work.proposal
            subject = f"{proposal.sub_action} version {proposal.version}"
            base_code = _base_code(session, proposal)
            payload = {"proposal": proposal.model_dump(mode="json"), "base_code": base_code}
            answer = ask(session, "code", subject, payload)
            if answer.decision == "reject":
                critique = _rejection(proposal, answer.comment)
                work = work.model_copy(update={"critique": critique})
                session.save(_decided(proposal, answer), codes=self._with(work))
                return work
            code = str(answer.payload["code"]) if answer.decision == "modify" else proposal.code
            if code != proposal.code:
                proposal = _edited(session, proposal, code)
            if proposal.passed_check:
                work = work.model_copy(update={"proposal": proposal, "approved_by": answer.by})
                session.save(_decided(proposal, answer), codes=self._with(work))
                return work
            session.log(f"{subject} does not pass the check: {_findings(proposal)}", "error")
            work = work.model_copy(update={"proposal": proposal})
            if answer.by in UNASKED:  # approving all does not mend a person's edit: the agent may
                critique = _rejection(proposal, _findings(proposal)).model_copy(
                    update={"author": CHECK, "typical_failure": "it does not pass the check"}
                )
                work = work.model_copy(update={"critique": critique})
                session.save(codes=self._with(work))
                return work
            session.save(CodeProposed(proposal=proposal), codes=self._with(work))

    # --- try ----------------------------------------------------------------------------

    def _try(self, work: CodeWork) -> CodeWork:
        """Run the approved code in the world and have the critic judge it."""
        session, proposal, action = self._session, work.proposal, work.sub_action
        session.enter(RunState.TRIALS, f"{action.name} version {proposal.version}")
        self._shown = 0
        self._first_failure = FirstFailure()
        trials: list[Trial] = []
        for trial in self._runner.run(action, proposal, session.progress.coded_actions()):
            trials.append(trial)
            session.emit(TrialFinished(trial=trial))
            session.checkpoint_stop()
        session.checkpoint_stop()
        if len(trials) < session.config.trials:
            raise RunStopped
        judged = session.agents.critic.judge(
            session.context,
            action,
            proposal,
            tuple(trials),
            session.config.trial_pass_rate,
            self._first_failure.last_frame,
        )
        done = work.model_copy(
            update={
                "trials": tuple(trials),
                "critique": judged,
                "failures": work.failures + int(judged.trials > 0 and not judged.works),
            }
        )
        session.save(CritiqueGiven(critique=judged), codes=self._with(done))
        return done

    def _show(self, env: Watched, caption: str) -> None:
        """Pace the first seconds of each version for the eye; the rest runs at full speed."""
        if caption.startswith("prologue"):
            self._session.show(env, caption)
        elif self._shown < SHOWN_FRAMES_PER_SECOND * SHOWN_SECONDS and self._session.watched():
            self._shown += 1
            self._session.show_paced(env, caption, SHOWN_FRAMES_PER_SECOND)
        else:
            self._session.show(env, caption)

    def _look(self, episode: Watched, trial: Trial) -> None:
        """Keep what the critic may be shown; nothing is drawn for one that takes no pictures."""
        config = self._session.config
        if config.llm.images and config.agents != "rules":
            self._first_failure.look(episode, trial)

    # --- keep ---------------------------------------------------------------------------

    def _store(self, work: CodeWork) -> None:
        self._session.save(codes=self._with(work))

    def _with(self, work: CodeWork) -> dict[str, CodeWork]:
        return {**self._session.progress.codes, work.sub_action.name: work}


def _feedback(work: CodeWork | None) -> Feedback:
    """Why the version before was not good enough."""
    if work is None or work.critique is None:
        return Feedback()
    if work.critique.author == CHECK:
        return Feedback(diagnostics=work.critique.text)
    if work.critique.author == "person":
        return Feedback(comment=work.critique.text)
    return Feedback(critique=work.critique, trials=work.trials)


def _write(
    session: Session, action: SubAction, base: CodeProposal | None, feedback: Feedback
) -> CodeProposal:
    known = _known_skill(session, action) if base is None else None
    version = 1 if base is None else base.version + 1
    proposal: CodeProposal | None = None
    for _ in range(CHECK_ATTEMPTS):
        session.checkpoint_stop()
        if known is not None:
            draft = CodeDraft(known.code, f"reused from the skill library, version {known.version}")
            author = f"library:{known.name}"
        else:
            draft = session.agents.fast.write(session.context, action, base, feedback)
            author = session.agents.fast.author
        proposal = CodeProposal(
            sub_action=action.name,
            version=version,
            base_version=None if version == 1 else version - 1,
            instruction=action.instruction,
            code=draft.code,
            author=author,
            comment=draft.comment,
            diagnostics=session.sandbox.check(draft.code),
        )
        if proposal.passed_check:
            break
        session.log(f"{action.name} version {version}: the check found {_findings(proposal)}")
        base, feedback, known = proposal, Feedback(diagnostics=_findings(proposal)), None
    if proposal is None:
        raise AgentError(f"no code for {action.name!r}", "Write it yourself with `e`.")
    return proposal


def _known_skill(session: Session, action: SubAction) -> KnownSkill | None:
    rate = session.config.trial_pass_rate
    fits = (s for s in session.context.skills if s.name == action.name and s.success_rate >= rate)
    return next(fits, None)


def _findings(proposal: CodeProposal) -> str:
    return "\n".join(f"line {d.line}: {d.message}" for d in proposal.diagnostics)


def _edited(session: Session, proposal: CodeProposal, code: str) -> CodeProposal:
    """The proposal as a person left it, checked again."""
    author = proposal.author.removesuffix("+person") + "+person"
    return proposal.model_copy(
        update={"code": code, "author": author, "diagnostics": session.sandbox.check(code)}
    )


def _base_code(session: Session, proposal: CodeProposal) -> str | None:
    """Code of the version before, from the run's own history."""
    if proposal.base_version is None:
        return None
    session.flush()
    code: str | None = None
    for event in events_of(session.journal, session.run_id, {CodeProposed.KIND}):
        earlier = event.payload["proposal"]
        same = earlier["sub_action"] == proposal.sub_action
        if same and earlier["version"] == proposal.base_version:
            code = str(earlier["code"])
    return code


def _decided(proposal: CodeProposal, answer: Answer) -> CodeDecided:
    return CodeDecided(
        sub_action=proposal.sub_action,
        version=proposal.version,
        decision=answer.decision,
        by=answer.by,
        comment=answer.comment,
        code_hash=proposal.code_hash,
    )


def _rejection(proposal: CodeProposal, comment: str) -> Critique:
    return Critique(
        sub_action=proposal.sub_action,
        version=proposal.version,
        success_rate=0.0,
        trials=0,
        works=False,
        typical_failure="rejected by a person",
        text=comment or "rejected without a reason",
        suggestion=comment,
        author="person",
    )
