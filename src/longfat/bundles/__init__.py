"""Bundles: a study with its results, and what is needed to obtain them again, in one file.

A bundle is a zip file:

    README.md                what it is, and how to verify it
    bundle.json              what `longfat verify` reads first, see `record`
    SHA256SUMS               the checksums of all other members
    study/                   the study, its text, and the files that it names
    results/RUN/             each run: manifest, raw output, samples
    results/claims.json      the claims, evaluated; beside it the report with its figures
    kernels/DIGEST/          each kernel: binary, configuration, manifest, recipe, its source
    toolset/                 the programs of the machines, their packages and licences
    licences/                the texts of the licences of longfat and of Linux
    CITATION.cff  .zenodo.json  ro-crate-metadata.json

`contents` collects what is in it and `describe` writes the texts; `opened` reads one that may
have been made to do harm, and `rerun` runs its cases again.
"""
