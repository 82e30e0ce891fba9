"""The Arrow schemas of the shards' Parquet files, explicit and versioned; golden files in the tests pin them."""

import pyarrow as pa

SCHEMA_VERSION = 1


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _versioned(fields: list[pa.Field]) -> pa.Schema:
    return pa.schema(fields, metadata={b"schema_version": str(SCHEMA_VERSION).encode()})


DOCUMENTS = _versioned(
    [
        _required("document", pa.int64()),
        _required("trajectory_id", pa.string()),
        _required("domain", pa.string()),
        _required("run", pa.string()),
        _required("num_turns", pa.int32()),
        _required("num_kept_turns", pa.int32()),
        _required("num_tokens", pa.int64()),
        _required("num_loss_tokens", pa.int64()),
    ]
)
"""A row a document, in the order of the ``.ds`` file: which trajectory it is."""

PACKS = _versioned(
    [
        _required("pack", pa.int64()),
        _required(
            "slices",
            pa.large_list(
                pa.field(
                    "slice",
                    pa.struct(
                        [
                            _required("document", pa.int64()),
                            _required("start", pa.int64()),
                            _required("length", pa.int64()),
                        ]
                    ),
                    nullable=False,
                )
            ),
        ),
    ]
)
"""A row a pack: the slices that make one training sample, in order; ``start`` counts tokens within the document."""
