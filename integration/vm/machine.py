"""Runs one command in the virtual machine, and brings back its output and exit code.

QEMU emulates the processor: no KVM is needed, and everything that starts programs is 25 to 35 times slower than here.
SPDX-License-Identifier: Apache-2.0
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import threading

from vm import kernel

TIMED_OUT, DIED = 124, 125

# Several emulation threads are slower here at fork and exec, and in QEMU 7.2 now and then crash the guest; the same for a
# processor with newer features than Nehalem's.
EMULATION = ["-accel", "tcg,thread=single,tb-size=1024", "-cpu", "Nehalem", "-smp", "2", "-M", "q35,usb=off"]
KERNEL_ARGUMENTS = ("console=ttyS0 quiet loglevel=1 mitigations=off nokaslr tsc=reliable clocksource=tsc no_timer_check "
                    "audit=0 panic=-1 random.trust_cpu=on cgroup_no_v1=all")
SYSTEMD_ARGUMENTS = ("vm.init=systemd systemd.unit=vm.target systemd.show_status=0 systemd.log_level=warning "
                     "systemd.firstboot=no")


class Machine:
    def __init__(self, *, systemd=False, memory=2048, arguments=""):
        self.kernel = kernel.ready()
        self.memory = memory
        modules = os.path.realpath(self.kernel.modules)
        self.arguments = f"{KERNEL_ARGUMENTS} vm.modules={modules} {SYSTEMD_ARGUMENTS if systemd else ''} {arguments}"

    def run(self, command, seconds, out, err):
        """The command's exit code; 124 when its time was up, 125 when the guest died twice. Output goes to two files."""
        for attempt in ("first", "second"):
            with tempfile.TemporaryDirectory(prefix="rung-vm-") as job:
                code = self._run_once(job, command, seconds, out, err)
                if code != DIED:
                    return code
                again = ", once more" if attempt == "first" else ""
                err.write(f"vm: the guest died{again}\n{_end_of(os.path.join(job, 'console'))}".encode())
        return DIED

    def _run_once(self, job, command, seconds, out, err):
        shutil.copy(os.path.join(kernel.HERE, "guest", "job"), os.path.join(job, "job"))
        for name, text in (("command", shlex.join(command)), ("project", kernel.PROJECT)):
            with open(os.path.join(job, name), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        ends = [_OutputPipe(out), _OutputPipe(err)]
        process = subprocess.Popen(self._command(job, *(end.descriptor for end in ends)), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=ends[1].descriptor,
                                   pass_fds=[end.descriptor for end in ends])
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return TIMED_OUT
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            for end in ends:
                end.finish()
        try:
            with open(os.path.join(job, "code"), encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return DIED

    def _command(self, job, out, err):
        # The machine ends with the thread that waits for it.
        command = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display",
                   "none", "-no-reboot", *EMULATION, "-m", str(self.memory), "-kernel", self.kernel.image,
                   "-initrd", self.kernel.first_root, "-append", self.arguments,
                   "-serial", f"file:{os.path.join(job, 'console')}",
                   "-device", "virtio-rng-pci", "-device", "virtio-serial-pci"]
        for number, (name, descriptor) in enumerate((("out", out), ("err", err)), 1):
            command += ["-chardev", f"file,id={name},path=/dev/fd/{descriptor},append=on",
                        "-device", f"virtserialport,chardev={name},name={name},nr={number}"]
        for tag, path, access in (("host", "/", ",readonly=on"), ("job", job, "")):
            command += ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{access}",
                        "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        return command


class _OutputPipe:
    """A pipe whose content a thread writes to a file: QEMU opens by name, which not every file of ours can bear."""

    def __init__(self, file):
        source, self.descriptor = os.pipe()
        self._thread = threading.Thread(target=self._copy, args=(source, file))
        self._thread.start()

    @staticmethod
    def _copy(source, file):
        with os.fdopen(source, "rb", buffering=0) as pipe:
            while data := pipe.read(65536):
                file.write(data)
                file.flush()

    def finish(self):
        os.close(self.descriptor)
        self._thread.join()


def _end_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-20:])
    except OSError:
        return ""
