"""What commands print to a terminal: tables, headings and texts, drawn with rich.

`tables` has the helpers that all of them share; each other module prints the results of one
command or of one analysis. Lower layers return values, and know no terminal.
"""
