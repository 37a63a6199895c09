"""`run --headless` and `resume --headless`: stdout, exit codes, Ctrl-C, a process that dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

import engine.process
from skills_db.records import RunState
from studio import cli_follow, cli_run
from studio.cli_output import OutputLost
from studio.program_name import program_name

FINISH = """
journal.set_state(run_id, RunState.TRAINING)
say("\\x1b[31mhello [/b]")
leave(RunState.FINISHED, result={"run": run_id, "state": "finished", "frames": 2000,
                                 "skills": [], "evaluation": None, "seconds": 1.5})
"""
RUN = ("run", "collect a diamond", "--headless", "--output", "json")


def test_a_run_that_finishes_gives_its_result_and_nothing_else(cli, process, database):
    process(FINISH)
    options = "--approve all --frames 2000 --seed 7 --episodes 3 --trials 2 --episode-length 500"
    answer = cli(*RUN, *options.split(), "--set", "training.n_envs=2")
    assert answer.code == 0, answer.err
    assert answer.json["state"] == "finished"
    run = database.journal.run(answer.json["run"])
    assert run.task == "collect a diamond"
    config = run.config
    assert (config["approve"], config["frames"], config["seed"]) == ("all", 2000, 7)
    assert (config["eval_episodes"], config["trials"], config["episode_length"]) == (3, 2, 500)
    assert config["training"]["n_envs"] == 2
    assert "�[31mhello [/b]" in answer.err
    assert "\x1b" not in answer.err


def test_fast_mode_is_allowed_for_one_run_at_a_time(cli, process, database):
    process(FINISH)
    for options, allowed in (((), False), (("--fast-mode",), True), (("--no-fast-mode",), False)):
        run = database.journal.run(cli(*RUN, *options).json["run"])
        assert run.config["fast_mode"] is allowed
        assert ("fast mode" in cli("runs", "show", run.id).out) is allowed


def test_episodes_of_an_evaluation_are_not_told_one_by_one(cli, process):
    process("""
for policy in ("code_only", "trained"):
    for detail in (policy, *(f"{policy}: episode {done} of 20" for done in range(1, 21))):
        journal.append(run_id, [("state", {"state": "evaluating", "detail": detail})])
leave(RunState.FINISHED, result={"run": run_id, "state": "finished"})
""")
    told = [line[10:] for line in cli(*RUN).err.splitlines() if "evaluating" in line]
    assert told == [
        "state: evaluating (code only)",
        "state: evaluating (code only: episode 20 of 20)",
        "state: evaluating (trained)",
        "state: evaluating (trained: episode 20 of 20)",
    ]


def test_what_a_waiting_run_ends_with_can_be_typed(cli, process):
    process("""
journal.request_approval(run_id, "plan", "collect a diamond", {"plan": 1})
leave(RunState.WAITING, detail="plan")
""")
    answer = cli("run", "collect a diamond", "--headless", "--approve", "none")
    assert answer.code == 4
    assert f"decide     {program_name()} attach " in answer.out
    assert f"resume     {program_name()} resume " in answer.out


def test_a_task_may_be_given_as_text_output(cli, process):
    process(FINISH)
    answer = cli("run", "collect a diamond", "--headless")
    assert answer.code == 0
    assert answer.out.splitlines()[1].split() == ["state", "finished"]


def test_a_task_the_world_does_not_have_makes_no_run(cli, database, process):
    process(FINISH)
    answer = cli("run", "fly to the moon", "--headless")
    assert answer.code == 2
    assert "fly to the moon" in answer.err
    assert database.journal.runs() == ()


def test_a_run_that_fails_says_why(cli, process):
    process("""
journal.append(run_id, [("failed", {"message": "it broke", "hint": "mend it"})])
leave(RunState.FAILED, detail="it broke")
""")
    answer = cli(*RUN)
    assert answer.code == 3
    assert (answer.json["state"], answer.json["error"]) == ("failed", "it broke")
    assert answer.json["hint"] == "mend it"
    assert answer.json["resume"].endswith(answer.json["run"])
    assert "it broke" in answer.err
    assert "mend it" in answer.err


def test_a_process_that_dies_is_noticed_with_its_last_words(cli, process):
    process("""
journal.set_state(run_id, RunState.TRAINING)
sys.stderr.write("Segmentation fault, or so\\n")
sys.stderr.flush()
os.kill(os.getpid(), signal.SIGKILL)
""")
    answer = cli(*RUN)
    assert answer.code == 3
    assert answer.json["state"] == "interrupted"
    assert answer.json["log"].endswith("process.log")
    assert "Segmentation fault, or so" in answer.err
    assert f"{program_name()} resume {answer.json['run']}" in answer.err


def test_a_process_that_never_works_is_noticed(cli, process):
    process("")
    answer = cli(*RUN)
    assert answer.code == 3
    process("raise SystemExit('no such module')")
    answer = cli("resume", answer.json["run"], "--headless")
    assert answer.code == 3
    assert "no such module" in answer.err


def test_a_run_that_waits_can_be_decided_and_resumed(cli, process, database):
    process("""
journal.request_approval(run_id, "plan", "collect a diamond", {"plan": 1})
leave(RunState.WAITING, detail="plan")
""")
    answer = cli(*RUN, "--approve", "none")
    assert answer.code == 4
    run_id = answer.json["run"]
    assert answer.json["state"] == "waiting"
    asked = answer.json["approval"]
    assert (asked["kind"], asked["subject"]) == ("plan", "collect a diamond")
    assert answer.json["attach"] == f"rlgpt-studio attach {run_id}"
    assert cli("resume", run_id, "--headless").code == 4
    process("""
say(repr(journal.take_commands(run_id)))
leave(RunState.FINISHED, result={"run": run_id, "state": "finished"})
""")
    done = cli("resume", run_id[-4:], "--headless", "--approve", "all", "--output", "json")
    assert (done.code, done.json["state"]) == (0, "finished")
    assert "approve_all" in done.err
    # Nobody is there: not even a model that fails is to be asked about.
    assert database.journal.run(run_id).config["approve"] == "all"
    again = cli("resume", run_id, "--headless")
    assert again.code == 2
    assert "is over: it finished" in again.err
    assert f"{program_name()} attach {run_id}" in again.err
    # The same without --headless: that there is no terminal here is not what matters.
    assert cli("resume", run_id).err == again.err


PATIENT = """
journal.set_state(run_id, RunState.TRAINING)
open({ready!r}, "w").close()
while "abort" not in journal.take_commands(run_id):
    time.sleep(0.02)
{then}
"""


@pytest.fixture
def press(tmp_path):
    """Presses Ctrl-C as soon as the process is ready."""
    ready = tmp_path / "ready"
    ended = threading.Event()

    def wait_and_press(times: int) -> None:
        while not ready.exists() and not ended.wait(0.02):
            pass
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            ended.wait(0.6)

    threads = []

    def start(times: int = 1) -> str:
        thread = threading.Thread(target=wait_and_press, args=(times,))
        thread.start()
        threads.append(thread)
        return str(ready)

    yield start
    ended.set()
    for thread in threads:
        thread.join()


def test_ctrl_c_stops_the_run_and_keeps_what_it_has(cli, process, press, database):
    then = 'leave(RunState.STOPPED, result={"run": run_id, "state": "stopped", "frames": 7})'
    process(PATIENT.format(ready=press(), then=then))
    answer = cli(*RUN)
    assert answer.code == 130
    assert (answer.json["state"], answer.json["frames"]) == ("stopped", 7)
    assert answer.json["resume"] == f"rlgpt-studio resume {answer.json['run']}"
    assert f"{program_name()} resume {answer.json['run']}" in answer.err
    assert database.journal.run(answer.json["run"]).state is RunState.STOPPED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_leaves_at_once(cli, process, press, database):
    process(PATIENT.format(ready=press(2), then="time.sleep(60)"))
    answer = cli(*RUN)
    assert answer.code == 130
    assert answer.json["state"] == "training"
    assert "may still be stopping" in answer.err


def test_ctrl_c_of_a_run_that_finishes_meanwhile_is_no_interruption(cli, process, press):
    then = 'leave(RunState.FINISHED, result={"run": run_id, "state": "finished"})'
    process(PATIENT.format(ready=press(), then=then))
    answer = cli(*RUN)
    assert (answer.code, answer.json["state"]) == (0, "finished")


def test_a_run_stopped_from_a_studio_counts_as_interrupted(cli, process):
    process('leave(RunState.STOPPED, result={"run": run_id, "state": "stopped"})')
    assert cli(*RUN).code == 130


def test_a_run_that_is_worked_on_is_followed_not_started_twice(
    cli, process, database, home, monkeypatch
):
    journal = database.journal
    run = journal.create_run(kind="task", task="t", world="crafter", agents="rules", config={})
    process("""
journal.set_state(run_id, RunState.TRAINING)
with Heartbeat(url, run_id, me.token):
    while "pause" not in journal.take_commands(run_id):
        time.sleep(0.02)
    say("the same process")
    leave(RunState.FINISHED, result={"run": run_id, "state": "finished"})
""")
    engine.process.launch(run.id, db_url=database.url, home=home)
    while journal.run(run.id).state is not RunState.TRAINING:
        threading.Event().wait(0.02)
    tell = cli_run.tell

    def tell_and_go_on(message: str, hint: str = "") -> None:
        tell(message, hint)
        if "following it" in message:
            journal.send(run.id, "pause")

    monkeypatch.setattr(cli_run, "tell", tell_and_go_on)
    answer = cli("resume", run.id, "--headless", "--output", "json")
    assert (answer.code, answer.json["state"]) == (0, "finished")
    assert "following it" in answer.err
    assert "the same process" in answer.err


def test_the_slower_of_two_processes_goes_on_following_the_faster_one(
    process, database, home, monkeypatch, capsys
):
    journal = database.journal
    run = journal.create_run(kind="task", task="t", world="crafter", agents="rules", config={})
    journal.set_state(run.id, RunState.STOPPED)
    run = journal.run(run.id)
    process("""
with Heartbeat(url, run_id, me.token):
    say("claimed")
    while "pause" not in journal.take_commands(run_id):
        time.sleep(0.02)
    journal.set_state(run_id, RunState.TRAINING)
    say("the faster process")
    leave(RunState.FINISHED, result={"run": run_id, "state": "finished"})
""")
    engine.process.launch(run.id, db_url=database.url, home=home)
    while not journal.last_seq(run.id):
        threading.Event().wait(0.02)
    slower = subprocess.Popen([sys.executable, "-c", ""])
    slower.wait()
    tell = cli_follow.tell

    def tell_and_go_on(message: str, hint: str = "") -> None:
        tell(message, hint)
        if "following it" in message:
            journal.send(run.id, "pause")

    monkeypatch.setattr(cli_follow, "tell", tell_and_go_on)
    ending = cli_follow.follow(journal, run, home, pid=slower.pid)
    assert (ending.code, ending.run.state, ending.error) == (0, RunState.FINISHED, "")
    assert "the faster process" in capsys.readouterr().err


def test_a_full_disk_is_named_when_a_process_dies(cli, process, home, monkeypatch):
    process("""
journal.set_state(run_id, RunState.TRAINING)
os.kill(os.getpid(), signal.SIGKILL)
""")
    asked = []

    def full(path):
        asked.append(path)
        return SimpleNamespace(total=10**9, used=10**9, free=4096)

    monkeypatch.setattr(cli_follow.shutil, "disk_usage", full)
    answer = cli(*RUN)
    assert asked == [home]
    assert answer.code == 3
    assert f"the disk of {str(home)!r} is full" in answer.json["error"]
    assert answer.json["hint"].startswith("Free some space")
    assert f"resume {answer.json['run']}" in answer.json["hint"]


def test_the_end_of_a_long_log_begins_with_a_whole_line(home):
    file = engine.process.log_file("a-run", home)
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{number} {'x' * 7000}\n" for number in range(20)))
    lines = engine.process.log_tail("a-run", home).splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(11, 20)]
    file.write_text("short\nlog")
    assert engine.process.log_tail("a-run", home) == "short\nlog"


def test_a_finished_run_keeps_its_exit_code_without_a_place_for_its_result(
    cli, process, monkeypatch, database
):
    process(FINISH)

    def lost(*_: object) -> None:
        raise OutputLost("The result cannot be written to stdout: it is closed.")

    monkeypatch.setattr(cli_run, "give", lost)
    answer = cli(*RUN)
    run = database.journal.runs()[0]
    assert answer.code == 0
    assert "cannot be written to stdout" in answer.err
    assert f"runs show {run.id}" in answer.err


def test_the_task_is_not_changed_by_a_setting(cli, database):
    answer = cli(*RUN, "--set", "task=foo")
    assert (answer.code, answer.out) == (2, "")
    assert "The task is no setting" in answer.err
    assert database.journal.runs() == ()
