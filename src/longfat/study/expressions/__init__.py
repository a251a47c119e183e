"""The language of expressions in a study: claims, figures and grids are written in it.

`grammar.lark` and `parser` make syntax of a text; `compiler` makes terms of syntax, which are
declared in `terms` and call the functions of `functions`; `evaluation` computes terms, for one case
or for many at once. What a name or metric refers to depends on where an expression is written:
`names` has the expressions over the parameters of a grid, `longfat.study.claims` those over
results.
"""
