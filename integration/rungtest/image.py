"""An OCI image made here, of busybox alone, in the archive form that every engine loads.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import io
import json
import os
import platform
import tarfile

from rungtest.bundle import make_rootfs

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def write_archive(path, work, images):
    """Writes a tar at `path` with one image for each {name: command}; `work` is a directory for the layer."""
    root = os.path.join(work, "image", "box", "rootfs")
    if not os.path.isdir(root):
        make_rootfs(root)
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(root, arcname=".")
    with tarfile.open(path, "w") as archive:
        _add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        layer_blob = _add_blob(archive, "application/vnd.oci.image.layer.v1.tar", layer.getvalue())
        manifests = []
        for name, command in images.items():
            config = {"architecture": ARCHITECTURES[platform.machine()], "os": "linux",
                      "config": {"Env": [PATH], "Cmd": command},
                      "rootfs": {"type": "layers", "diff_ids": [layer_blob["digest"]]}}
            manifest = {"schemaVersion": 2, "mediaType": _MANIFEST,
                        "config": _add_blob(archive, "application/vnd.oci.image.config.v1+json", _text(config)),
                        "layers": [layer_blob]}
            manifests.append({**_add_blob(archive, _MANIFEST, _text(manifest)),
                              "annotations": {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}})
        _add(archive, "index.json", _text({"schemaVersion": 2, "manifests": manifests}))


def _text(value):
    return json.dumps(value).encode()


def _add_blob(archive, media_type, data):
    digest = hashlib.sha256(data).hexdigest()
    name = f"blobs/sha256/{digest}"
    if name not in archive.getnames():
        _add(archive, name, data)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}


def _add(archive, name, data):
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))
