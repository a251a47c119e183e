"""Programs that people type in a shell of a live network; they run inside the machine.

They are called as the programs of the labs' own virtual machine, and have the same arguments:

* `plot_iperf`: `plot_iperf.sh REPORT`, the figures of an iperf3 report
* `plot_queue`: `plot_q.sh INTERFACE`, a queue over time: `queue_reader` samples it, and
  `queue_figure` draws it as files
* `open_file`: `xdg-open FILE`, the path of a file on the user's computer
* `paths`: which folders of the machine are folders of the user's computer

Everything that they read may have been written by the machine's guest, so nothing of it is
parsed by a process outside of the sandbox. `longfat.live.programs` puts them into
a machine.
"""
