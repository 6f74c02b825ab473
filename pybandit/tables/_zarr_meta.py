"""Check the metadata of a Zarr array, formats 2 and 3, before anything is decoded.

The package zarr runs any codec that the metadata name, even `pickle`. Here a fixed list of codecs
is accepted; objects, groups, extensions and codecs by module name are refused.
"""

import math
from typing import NamedTuple

import numpy as np

from pybandit._shared.files import parsed_json

NUMBERS = {"bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
           "float16", "float32", "float64"}
# Codecs by format; those of format 2 are compressors.
COMPRESSORS = {2: ("blosc", "zstd", "lz4", "gzip", "zlib", "bz2", "lzma"),
               3: ("blosc", "zstd", "gzip", "crc32c")}
FIELDS = {2: {"zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order",
              "filters", "dimension_separator"},
          3: {"zarr_format", "node_type", "shape", "data_type", "chunk_grid",
              "chunk_key_encoding", "fill_value", "codecs", "attributes", "storage_transformers",
              "dimension_names"}}
MOST_CHUNK = 1 << 27  # bytes of a chunk, decoded
MOST_INNER = 1 << 16  # chunks of a shard
# In an array of more than MOST_SMALL chunks, each must have at least LEAST_CELLS cells, because
# looking up a chunk takes 10 us.
MOST_SMALL, LEAST_CELLS = 1 << 16, 1 << 10
REMEDY = "; open it with zarr and pass the array, if you trust the file"


class Shard(NamedTuple):
    """Chunks in one file, with an index of their offsets and lengths."""

    counts: tuple[int, int]  # chunks per shard in each dimension
    at_start: bool  # True if the index is at the start of the file
    has_checksum: bool


class Meta(NamedTuple):
    """Layout of an array of two dimensions."""

    shape: tuple[int, int]
    chunks: tuple[int, int]
    dtype: np.dtype  # with the byte order of the file
    fill: object
    is_transposed: bool
    codecs: list[str]  # codecs of bytes, in the order of encoding
    item_sizes: list[int]  # item size of each `shuffle` codec; 0 for others
    prefix: str
    separator: str
    shard: Shard | None


def parsed_meta(text, version):
    """Return the `Meta` of ``zarr.json`` or ``.zarray``; raise ValueError for unknown content."""
    meta = parsed_json(text)
    if not isinstance(meta, dict) or type(meta.get("zarr_format")) is not int:
        raise ValueError("the metadata must be an object with zarr_format")
    if meta["zarr_format"] != version:
        raise ValueError(f"zarr_format must be {version}; got {meta['zarr_format']}")
    unknown = sorted(set(meta) - FIELDS[version])
    if unknown:
        raise ValueError("fields of the metadata must be among "
                         f"{', '.join(sorted(FIELDS[version]))}; got the unknown field "
                         f"{_short(unknown[0])}")
    return (_of_format_2 if version == 2 else _of_format_3)(meta)


def _of_format_2(meta):
    dtype = _dtype_of(meta.get("dtype"))
    codecs, item_sizes = [], []
    for one in _list_of("filters", meta.get("filters") or []):
        if _name_of("filters", one, "id") != "shuffle":
            raise ValueError(f"filters must be shuffle or none; got {_short(one['id'])}{REMEDY}")
        size = one.get("elementsize")
        if type(size) is not int or not 1 <= size <= 16:
            raise ValueError(f"elementsize of shuffle must be 1 to 16; got {_short(size)}")
        codecs.append("shuffle")
        item_sizes.append(size)
    compressor = meta.get("compressor")
    if compressor is not None:
        codecs.append(_known("compressor", compressor, "id", COMPRESSORS[2]))
        item_sizes.append(0)
    order = meta.get("order")
    if order not in ("C", "F"):
        raise ValueError(f"order must be C or F; got {_short(order)}")
    shape, chunks = _sizes("shape", meta.get("shape")), _chunk_of("chunks", meta.get("chunks"))
    return _checked(Meta(shape, chunks, dtype, _fill_of(meta.get("fill_value"), dtype),
                         order == "F", codecs, item_sizes, "",
                         _separator_of(meta.get("dimension_separator", ".")), None))


def _of_format_3(meta):
    if meta.get("node_type") != "array":
        raise ValueError(f"node_type must be array; got {_short(meta.get('node_type'))}")
    if meta.get("storage_transformers"):
        raise ValueError("storage_transformers must be empty")
    name = meta.get("data_type")
    if not isinstance(name, str) or name not in NUMBERS:
        raise ValueError(f"data_type must be a type of numbers; got {_short(name)}")
    grid = _configured("chunk_grid", meta.get("chunk_grid"), ("regular",))
    chunks, shard = _chunk_of("chunk_shape", grid.get("chunk_shape")), None
    codecs = _list_of("codecs", meta.get("codecs"))
    if codecs and isinstance(codecs[0], dict) and codecs[0].get("name") == "sharding_indexed":
        if len(codecs) > 1:
            raise ValueError("codecs must be sharding_indexed alone, or must not include it")
        chunks, shard, codecs = _shard_of(chunks, _configured("codecs", codecs[0],
                                                              ("sharding_indexed",)))
    is_transposed, endian, names = _pipeline_of(codecs, name)
    prefix, separator = _keys_of(meta.get("chunk_key_encoding"))
    dtype = np.dtype(name).newbyteorder(endian)
    return _checked(Meta(_sizes("shape", meta.get("shape")), chunks, dtype,
                         _fill_of(meta.get("fill_value"), dtype), is_transposed, names,
                         [0] * len(names), prefix, separator, shard))


def _keys_of(encoding):
    name = _known("chunk_key_encoding", encoding, "name", ("default", "v2"))
    separator = _separator_of(_configured("chunk_key_encoding", encoding, (name,)).get(
        "separator", "/" if name == "default" else "."))
    return ("c" + separator if name == "default" else ""), separator


def _pipeline_of(codecs, name):
    """Return True if chunks are transposed, the byte order, and the codecs of bytes."""
    is_transposed, endian, names = False, None, []
    for one in _list_of("codecs", codecs):
        codec = _known("codecs", one, "name", ("transpose", "bytes", *COMPRESSORS[3]))
        options = _configured("codecs", one, (codec,))
        if codec == "transpose" and endian is None:
            order = options.get("order")
            if order not in ([0, 1], [1, 0]):
                raise ValueError(f"order of transpose must permute 0 and 1; got {_short(order)}")
            is_transposed ^= order == [1, 0]
        elif codec == "bytes" and endian is None:
            word = options.get("endian", "little" if np.dtype(name).itemsize == 1 else None)
            if word not in ("little", "big"):
                raise ValueError(f"endian of bytes must be little or big; got {_short(word)}")
            endian = "<" if word == "little" else ">"
        elif codec in COMPRESSORS[3] and endian is not None:
            names.append(codec)
        else:
            raise ValueError("codecs must have bytes once, transpose only before it, and all "
                             f"others after it; got {codec} out of place")
    if endian is None:
        raise ValueError("codecs must have bytes or sharding_indexed among them")
    return is_transposed, endian, names


def _shard_of(outer, options):
    inner = _chunk_of("chunk_shape of a shard", options.get("chunk_shape"))
    if any(whole % part for whole, part in zip(outer, inner, strict=True)):
        raise ValueError(f"chunk_shape of a shard must divide {outer}; got {inner}")
    counts = outer[0] // inner[0], outer[1] // inner[1]
    if math.prod(counts) > MOST_INNER:
        raise ValueError(f"a shard must have at most {MOST_INNER:,} chunks; got "
                         f"{math.prod(counts):,}")
    transposed, endian, names = _pipeline_of(options.get("index_codecs"), "uint64")
    if transposed or endian != "<" or names not in ([], ["crc32c"]):
        raise ValueError("index_codecs must be bytes with endian little, alone or followed by "
                         "crc32c")
    location = options.get("index_location", "end")
    if location not in ("start", "end"):
        raise ValueError(f"index_location must be start or end; got {_short(location)}")
    return inner, Shard(counts, location == "start", bool(names)), options.get("codecs")


def _checked(meta):
    n_bytes = math.prod(meta.chunks) * meta.dtype.itemsize
    if n_bytes > MOST_CHUNK:
        raise ValueError(f"a chunk must have at most {MOST_CHUNK:,} bytes; got {n_bytes:,}")
    n_chunks = math.prod(-(-n // size) for n, size in zip(meta.shape, meta.chunks, strict=True))
    if n_chunks > MOST_SMALL and math.prod(meta.chunks) < LEAST_CELLS:
        raise ValueError(f"chunks must have at least {LEAST_CELLS:,} cells in an array of more "
                         f"than {MOST_SMALL:,} chunks; got chunks of shape {meta.chunks}")
    if len(meta.codecs) > 4:
        raise ValueError(f"codecs of bytes must be at most 4; got {len(meta.codecs)}")
    return meta


def _dtype_of(text):
    """Return the dtype of a name such as <f4."""
    if not (isinstance(text, str) and len(text) == 3 and text[0] in "<>|" and text[1] in "biuf"
            and text[2] in "1248"):
        raise ValueError(f"dtype must be one of numbers, such as <f4; got {_short(text)}")
    try:
        return np.dtype(text)
    except TypeError:
        raise ValueError(f"dtype must be one of numbers, such as <f4; got {text}") from None


def _fill_of(value, dtype):
    words = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    if value is None:
        value = 0
    if isinstance(value, str) and dtype.kind == "f":
        value = _float_of_bits(value, dtype) if value.startswith("0x") else words.get(value, value)
    try:
        if not isinstance(value, (int, float)) or dtype.kind in "iu" and value != int(value):
            raise TypeError
        with np.errstate(over="ignore"):
            return np.array(value, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"fill_value must be a number of {dtype}; got {_short(value)}") from None


def _float_of_bits(text, dtype):
    try:
        return float(np.frombuffer(bytes.fromhex(text[2:]), dtype.newbyteorder(">"))[0])
    except (ValueError, IndexError):
        raise ValueError(f"fill_value must be a number of {dtype}; got {_short(text)}") from None


def _sizes(what, value):
    if not (isinstance(value, list) and len(value) == 2
            and all(type(one) is int and 1 <= one < 1 << 48 for one in value)):
        raise ValueError(f"{what} must have two sizes, each at least 1; got "
                         f"{_short(value)}")
    return tuple(value)


def _chunk_of(what, value):
    sizes = _sizes(what, value)
    if math.prod(sizes) > MOST_CHUNK * MOST_INNER:
        raise ValueError(f"{what} must be smaller; got {_short(value)}")
    return sizes


def _separator_of(value):
    if value not in (".", "/"):
        raise ValueError(f"the separator of keys must be . or /; got {_short(value)}")
    return value


def _configured(what, value, names):
    """Return the configuration of an object with one of these names."""
    _known(what, value, "name", names)
    options = {} if isinstance(value, str) else value.get("configuration", {})
    if not isinstance(options, dict):
        raise ValueError(f"configuration of {what} must be an object; got {_short(options)}")
    return options


def _known(what, value, key, names):
    name = _name_of(what, value, key)
    if name not in names:
        raise ValueError(f"{what} must be one of {', '.join(names)}; got {_short(name)}{REMEDY}")
    return name


def _name_of(what, value, key):
    name = value if isinstance(value, str) else value.get(key) if isinstance(value, dict) else None
    if not isinstance(name, str):
        raise ValueError(f"{what} must have a name as its {key}; got {_short(value)}")
    return name


def _list_of(what, value):
    if not isinstance(value, list) or len(value) > 16:
        raise ValueError(f"{what} must be a list of at most 16 entries; got {_short(value)}")
    return value


def _short(value):
    text = repr(value) if not isinstance(value, (dict, list)) else f"{value!r:.60}"
    return text if len(text) <= 60 else text[:57] + "..."
