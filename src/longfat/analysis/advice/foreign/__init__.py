"""Diagnoses of traffic that no run of longfat measured: what can be known, and what cannot.

`detect` distinguishes the kinds of files by their content. Each kind has a reader and its rules:
`iperf3` and `iperf3_findings` for reports of iperf3; `socket_text`, `sockets` and `socket_findings`
for the output of ss(8); `capture`, `stream_evidence` and `stream_findings` for captures. Their
results are `ForeignDiagnosis`es, which `combine` merges where several files are of one connection.

The rules for sockets and captures serve programs in a run of longfat as well: `run_programs`.
"""
