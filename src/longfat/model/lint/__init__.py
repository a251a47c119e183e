"""The lint of typed lines of tc, ip and sysctl, and of what links have in tc's words.

A rule warns where tc or the kernel does something else with the words than the person who wrote
them meant, and names the line that was probably meant. It warns of nothing that is not
certain: of a line that only a shell can read it says nothing. `docs/lint.md` lists the rules.

* `shell_words` cuts a typed line into commands, `tc_command` and `tc_numbers` read one of tc;
* `machine_state` and `case_facts` apply all lines of a case, in their order;
* `units`, `shapers`, `queues`, `sysctls`, `devices`, `neighbours` and `no_effect` are the rules.
"""

from longfat.model.lint.case_facts import facts_of
from longfat.model.lint.lint import LintWarning, lint_case, lint_line
from longfat.model.lint.machine_state import Origin

__all__ = ["LintWarning", "Origin", "facts_of", "lint_case", "lint_line"]
