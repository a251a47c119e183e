"""Reports: figures, and a standalone page.

Three layers. `windows`, `curves`, `series` and `iperf3_tables` compute; `values` turns numbers
into text, for `longfat.cli.render.verdict`, too; `figures` and `page` show, and `rendering`,
`plots` and `iperf3_plots` write. `files` makes only what does not exist already, according to
`origin` and `record`. Figures over time are drawn by `longfat.output.plot`.

Nothing is imported here: programs that draw inside a machine have the libraries of a few of
these modules only.
"""
