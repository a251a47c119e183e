from __future__ import annotations

from pathlib import Path

from longfat.engine.kernel.steps import compare, questions, rejected_answers


def test_answers_that_were_accepted_are_not_mentioned() -> None:
    found = compare({"CONFIG_NET": "y"}, {"CONFIG_NET": "y"}, {"CONFIG_NET"})
    assert (found.unknown, found.refused) == ((), ())


def test_a_no_is_accepted_by_being_absent() -> None:
    found = compare({"CONFIG_SWAP": "n"}, {}, {"CONFIG_SWAP"})
    assert (found.unknown, found.refused) == ((), ())


def test_an_answer_without_a_question_is_unknown() -> None:
    found = compare({"CONFIG_DUALPI2": "y"}, {}, {"CONFIG_NET"})
    assert (found.unknown, found.refused) == (("CONFIG_DUALPI2=y",), ())


def test_an_answer_that_did_not_hold_is_refused() -> None:
    config = {"CONFIG_SWAP": "y", "CONFIG_HZ": "100"}
    wanted = {"CONFIG_NET": "y", "CONFIG_SWAP": "n", "CONFIG_HZ": "250"}
    found = compare(wanted, config, set(wanted))
    assert found.refused == ("CONFIG_NET=y", "CONFIG_SWAP=n", "CONFIG_HZ=250")
    assert found.unknown == ()


def test_questions_of_other_processors_are_not_asked(tmp_path: Path) -> None:
    files = {
        "Kconfig": 'source "arch/$(SRCARCH)/Kconfig"\n',
        "arch/Kconfig": "config JUMP_LABEL\n",
        "arch/um/Kconfig": "config UML_TIME_TRAVEL_SUPPORT\n",
        "arch/x86/Kconfig": "config SMP\n",
        "arch/x86/um/Kconfig": "config 64BIT\n",
        "net/Kconfig": "menuconfig NET\n\tbool\nconfig  INET\n",
        "lib/Kconfig.debug": "\tconfig DEBUG_INFO\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert questions(tmp_path) == {
        "CONFIG_JUMP_LABEL",
        "CONFIG_UML_TIME_TRAVEL_SUPPORT",
        "CONFIG_64BIT",
        "CONFIG_NET",
        "CONFIG_INET",
        "CONFIG_DEBUG_INFO",
    }


def test_a_tree_is_judged_by_its_config(tmp_path: Path) -> None:
    (tmp_path / "Kconfig").write_text("config NET\nconfig SWAP\n")
    (tmp_path / ".config").write_text("# CONFIG_NET is not set\n")
    answers = tmp_path / "answers"
    answers.write_text("# why\nCONFIG_NET=y\nCONFIG_SWAP=n\nCONFIG_OLD=y\n")
    found = rejected_answers(tmp_path, answers=answers)
    assert found.refused == ("CONFIG_NET=y",)
    assert found.unknown == ("CONFIG_OLD=y",)
