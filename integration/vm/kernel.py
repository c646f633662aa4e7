"""The guest's kernel and first file system, made once from Debian's kernel package and kept in build/vm.

Nothing is installed: the package is downloaded and unpacked. 9p, overlay and virtio are modules of that kernel, so the
first file system carries them, with busybox. The cloud flavour of the package has no 9p.
SPDX-License-Identifier: Apache-2.0
"""

import fcntl
import glob
import os
import platform
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
PACKAGE = "linux-image-amd64"
MODULES = ("virtio_pci", "virtio_console", "virtio_rng", "9pnet_virtio", "9p", "overlay")

# How the compressed kernel inside vmlinuz may begin, and what unpacks it.
COMPRESSIONS = ((b"\xfd7zXZ\x00", ("xz", "-dc", "--single-stream")), (b"\x28\xb5\x2f\xfd", ("zstd", "-dcq")),
                (b"\x1f\x8b\x08", ("gzip", "-dc")))


class Unavailable(Exception):
    """There is no kernel to boot; the text says why, in one line."""


class Kernel:
    def __init__(self, directory):
        self.image = os.path.join(directory, "vmlinux")
        self.first_root = os.path.join(directory, "initrd")
        self.modules = os.path.join(directory, "package", "lib", "modules")


def ready(directory=os.path.join(PROJECT, "build", "vm")):
    """The kernel, made now when it is not there yet. Two callers at once make it once."""
    if platform.machine() != "x86_64":
        raise Unavailable(f"the virtual machine runs an amd64 kernel, and this is {platform.machine()}")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kernel = Kernel(directory)
        if not os.path.exists(kernel.image):
            _unpack(os.path.join(directory, "package"))
            _write_first_root(kernel)
            _write_image(kernel)  # last: it stands for the others
        elif os.path.getmtime(kernel.first_root) < os.path.getmtime(os.path.join(HERE, "guest", "init")):
            _write_first_root(kernel)
        return kernel


def _unpack(target):
    shutil.rmtree(target, ignore_errors=True)
    # apt downloads as root, and not as its own user, which has no way into our directories.
    with tempfile.TemporaryDirectory(prefix="rung-vm-") as work:
        try:
            _download(work)
        except Unavailable:
            # What apt knows may be missing or old; when it cannot learn more, the second failure says why.
            subprocess.run(["apt-get", "update", "-q"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
            _download(work)
        _run(["dpkg-deb", "-x", glob.glob(os.path.join(work, "*.deb"))[0], target], "unpack the kernel package")
    if not os.path.isdir(os.path.join(target, "lib")):
        os.symlink("usr/lib", os.path.join(target, "lib"))
    _run(["depmod", "-b", target, _version(target)], "index the kernel's modules")


def _download(directory):
    """The package behind the current linux-image-amd64, which itself is empty."""
    listed = _run(["apt-cache", "depends", PACKAGE], f"find the package {PACKAGE}").stdout.decode()
    names = [line.split()[-1] for line in listed.splitlines() if line.strip().startswith("Depends: linux-image-")]
    if not names:
        raise Unavailable(f"apt knows no kernel behind {PACKAGE}")
    _run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", names[0]],
         f"download the kernel package {names[0]}", cwd=directory)


def _version(package):
    return os.listdir(os.path.join(package, "lib", "modules"))[0]


def _write_image(kernel):
    """The uncompressed kernel, which starts without a boot loader and much sooner than it would unpack itself here."""
    package = os.path.dirname(os.path.dirname(kernel.modules))
    with open(os.path.join(package, "boot", "vmlinuz-" + _version(package)), "rb") as file:
        data = file.read()
    for magic, unpack in COMPRESSIONS:
        at = data.find(magic)
        while at >= 0:
            # What follows the compressed part makes the tool complain; the beginning decides.
            image = subprocess.run(unpack, input=data[at:], capture_output=True, check=False).stdout
            if image.startswith(b"\x7fELF"):
                with open(kernel.image + ".new", "wb") as file:
                    file.write(image)
                os.rename(kernel.image + ".new", kernel.image)
                return
            at = data.find(magic, at + 1)
    raise Unavailable(f"no kernel inside the package {PACKAGE}")


def _write_first_root(kernel):
    package = os.path.dirname(os.path.dirname(kernel.modules))
    with tempfile.TemporaryDirectory(prefix="rung-vm-") as root:
        for directory in ("bin", "lib", "proc", "sys", "dev", "mnt"):
            os.mkdir(os.path.join(root, directory))
        shutil.copy("/bin/busybox", os.path.join(root, "bin", "busybox"))
        shutil.copy(os.path.join(HERE, "guest", "init"), os.path.join(root, "init"))
        os.chmod(os.path.join(root, "init"), 0o755)
        with open(os.path.join(root, "modules"), "w", encoding="ascii") as order:
            for name in _copy_modules(package, os.path.join(root, "lib")):
                order.write(name + "\n")
        with open(kernel.first_root, "wb") as file:
            names = "".join(f"{path}\n" for path in ["."] + sorted(glob.glob("**", root_dir=root, recursive=True)))
            _run(["cpio", "--create", "--format=newc", "--quiet"], "write the first file system", cwd=root,
                 input=names.encode(), stdout=file)


def _copy_modules(package, target):
    """Copies the modules, uncompressed, and gives their file names in an order that can be loaded."""
    names = []
    for module in MODULES:
        listed = _run(["modprobe", "-d", package, "-S", _version(package), "--show-depends", module],
                      f"find the kernel module {module}").stdout.decode()
        for line in listed.splitlines():
            if not line.startswith("insmod "):
                continue  # built in
            path = line.split()[1]
            name = os.path.basename(path).removesuffix(".xz")
            if name in names:
                continue
            with open(os.path.join(target, name), "wb") as file:
                _run(["xz", "-dc", path] if path.endswith(".xz") else ["cat", path], f"copy {name}", stdout=file)
            names.append(name)
    return names


def _run(command, purpose, stdout=subprocess.PIPE, **how):
    try:
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, check=False,
                              **({} if "input" in how else {"stdin": subprocess.DEVNULL}), **how)
    except OSError as error:
        raise Unavailable(f"cannot {purpose}: {error}") from error
    if done.returncode != 0:
        reasons = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit {done.returncode}"]
        raise Unavailable(f"cannot {purpose}: {reasons[-1]}")
    return done
