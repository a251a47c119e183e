"""All kinds of data, by name."""

from __future__ import annotations

import json

from longfat.engine.kernel import manifest as kernel_manifest
from longfat.execution.runs.run import MANIFEST
from tests.mutations.captures import (
    captures,
    check_decoded,
    check_packets,
    check_packets_outcome,
    check_packets_script,
    decoded,
)
from tests.mutations.class_files import (
    check_answers,
    check_grading,
    check_metadata,
    check_roster,
    metadata,
    rosters,
)
from tests.mutations.folders import (
    cached,
    change_file,
    check_kernel,
    check_run,
    get_cached,
    packed_tree,
    run_folder,
)
from tests.mutations.images import archives, check_archive, check_layer, layers
from tests.mutations.kernel_manifests import check_kernel_manifest, kernel
from tests.mutations.kind import Kind, files
from tests.mutations.messages import (
    FRAMES,
    check_command,
    check_draft,
    check_frame,
    check_request,
    check_sessions,
    check_state,
    check_wire,
    drafts,
    session_requests,
    sessions_of_browsers,
)
from tests.mutations.mutators import (
    change_capture,
    change_json,
    change_package,
    change_samples,
    change_sealed,
    change_words,
    flip_bytes,
)
from tests.mutations.results import (
    check_any,
    check_forged,
    check_manifest,
    check_note,
    check_outcome,
    check_package,
    check_sample_log,
    check_table,
    note,
    outcomes,
    packages,
    queue_samples,
    raw_kind,
    tables,
)
from tests.mutations.studies import (
    broken_networks,
    check_drawing,
    check_mistakes,
    check_record,
    check_script,
    check_study,
    check_trace,
    records,
    traces,
)

KINDS: dict[str, Kind] = {
    "manifest": Kind(
        samples=files(f"tests/data/runs/*/*/{MANIFEST}"), mutate=change_json, read=check_manifest
    ),
    "forged manifest": Kind(
        samples=files(f"tests/data/runs/lab08/*/{MANIFEST}"),
        mutate=change_sealed,
        read=check_forged,
    ),
    "cached result": Kind(
        samples=lambda: [packed_tree(cached())], mutate=change_file, read=get_cached
    ),
    "run": Kind(samples=lambda: [packed_tree(run_folder())], mutate=change_file, read=check_run),
    "note": Kind(samples=note, mutate=change_json, read=check_note),
    "kernel": Kind(samples=lambda: [packed_tree(kernel())], mutate=change_file, read=check_kernel),
    "kernel manifest": Kind(
        samples=lambda: [kernel()[kernel_manifest.FILE]],
        mutate=change_json,
        read=check_kernel_manifest,
    ),
    "image": Kind(samples=archives, mutate=flip_bytes, read=check_archive),
    "image layer": Kind(samples=layers, mutate=flip_bytes, read=check_layer),
    "outcome": Kind(samples=outcomes, mutate=change_json, read=check_outcome),
    "frame": Kind(
        samples=lambda: [json.dumps(one).encode() for one in FRAMES],
        mutate=change_json,
        read=check_frame,
    ),
    "wire": Kind(
        samples=lambda: [b'{"rows": 24, "columns": 80}'], mutate=change_json, read=check_wire
    ),
    "command": Kind(
        samples=lambda: [
            b'{"do": "run", "flows": ["a"], "text": "t", "lines": [{"node": "h", "line": "l"}]}',
            b'{"do": "pace", "factor": 1}',
            b'{"do": "open-terminal", "node": "h1", "rows": 24, "columns": 80}',
        ],
        mutate=change_json,
        read=check_command,
    ),
    "draft": Kind(samples=drafts, mutate=change_json, read=check_draft),
    "state of a workspace": Kind(
        samples=lambda: [b'{"url": "http://127.0.0.1:8765/?token=x", "port": 8765}'],
        mutate=change_json,
        read=check_state,
    ),
    "sessions of browsers": Kind(
        samples=sessions_of_browsers, mutate=change_json, read=check_sessions
    ),
    "samples of a live run": Kind(
        samples=lambda: [queue_samples()], mutate=change_samples, read=check_sample_log
    ),
    "session request": Kind(samples=session_requests, mutate=change_json, read=check_request),
    "queue samples": raw_kind("queue.samples", mutate=change_samples),
    "tcp samples": raw_kind("tcp.samples", mutate=change_samples),
    "rate samples": raw_kind("rate.samples", mutate=change_samples),
    "capture": raw_kind("window.pcap", mutate=change_capture),
    "packets": Kind(samples=captures, mutate=change_capture, read=check_packets),
    "decoded packets": Kind(samples=decoded, mutate=change_words, read=check_decoded),
    "parquet": Kind(samples=tables, mutate=flip_bytes, read=check_table),
    "iperf3": raw_kind("bulk.client.json", mutate=change_json),
    "iperf3 reversed": raw_kind("back.server.json", mutate=change_json),
    "any iperf3": Kind(
        samples=files("tests/data/iperf3/*.json"), mutate=change_json, read=check_any
    ),
    "transfer": raw_kind("moved.client.json", mutate=change_json),
    "ping": raw_kind("ping.txt", mutate=change_words),
    "requests": raw_kind("web.client.json", mutate=change_json),
    "cbr": raw_kind("call.server.json", mutate=change_json),
    "video": raw_kind("film.client.json", mutate=change_json),
    "program": raw_kind("page.client.txt.err", mutate=change_json),
    "study": Kind(
        samples=files("labs/*/study.yaml", "tests/study/data/*.yaml"),
        mutate=change_words,
        read=check_study,
    ),
    "mistakes of a study": Kind(
        samples=lambda: [*files("labs/*/study.yaml")(), *broken_networks()],
        mutate=change_words,
        read=check_mistakes,
    ),
    "drawing": Kind(
        samples=files("tests/data/miniedit/*.mn"), mutate=change_json, read=check_drawing
    ),
    "record of a script": Kind(samples=records, mutate=change_json, read=check_record),
    "trace": Kind(samples=traces, mutate=change_words, read=check_trace),
    "script": Kind(
        samples=files("tests/data/mininet/from_miniedit.py"), mutate=change_words, read=check_script
    ),
    "grading": Kind(
        samples=files("labs/templates/*/instructor/grading.yaml"),
        mutate=change_words,
        read=check_grading,
    ),
    "answers": Kind(
        samples=files("labs/templates/*/instructor/solution/answers.yaml"),
        mutate=change_words,
        read=check_answers,
    ),
    "roster": Kind(samples=rosters, mutate=change_words, read=check_roster),
    "metadata": Kind(samples=metadata, mutate=change_json, read=check_metadata),
    "packetdrill script": Kind(
        samples=files("examples/packetdrill/*.pkt", "tests/data/packetdrill/*.pkt"),
        mutate=change_words,
        read=check_packets_script,
    ),
    "packetdrill outcome": Kind(
        samples=files("tests/data/packetdrill/*.json"),
        mutate=change_json,
        read=check_packets_outcome,
    ),
    "package": Kind(samples=packages, mutate=change_package, read=check_package),
}
