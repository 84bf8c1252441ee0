"""Looks at its container from inside, as a hostile program would, and prints what it found as one JSON object."""

import ctypes
import json
import os
import signal
import socket
import stat
import subprocess


def status_fields(pid="self"):
    with open(f"/proc/{pid}/status") as lines:
        return dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)


def writable_places():
    """Top-most folders and single files below / that this user could write, but for devices and its own /proc entries."""
    found = []
    for folder, names, files in os.walk("/"):
        names[:] = [name for name in names if os.path.join(folder, name) != "/proc"]
        if os.access(folder, os.W_OK):
            found.append(folder)
            names.clear()
            continue
        for name in files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if not (stat.S_ISCHR(mode) or stat.S_ISLNK(mode)) and os.access(path, os.W_OK):
                found.append(path)
    for name in os.listdir("/proc"):
        path = os.path.join("/proc", name)
        if not name.isdigit() and not os.path.islink(path) and os.path.isfile(path) and os.access(path, os.W_OK):
            found.append(path)
    return sorted(found)


def can_write(path):
    """Really writes: what access() says is not trusted for what counts."""
    try:
        with open(os.path.join(path, ".probe"), "w") as file:
            file.write("x")
        os.unlink(os.path.join(path, ".probe"))
        return True
    except OSError:
        return False


def refused(attempt):
    try:
        attempt()
        return False
    except PermissionError:
        return True


def trace(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, pid, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def attacks(pid):
    """Which attacks on a process are refused; None when it ended by itself meanwhile."""
    try:
        return attacks_now(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None


def attacks_now(pid):
    return {
        "kill": refused(lambda: os.kill(pid, signal.SIGKILL)),
        "stop": refused(lambda: os.kill(pid, signal.SIGSTOP)),
        "trace": refused(lambda: trace(pid)),
        "environment": refused(lambda: open(f"/proc/{pid}/environ", "rb").read()),
        "memory": refused(lambda: open(f"/proc/{pid}/mem", "rb")),
        "root": refused(lambda: os.listdir(f"/proc/{pid}/root/")),
        "files": refused(lambda: os.listdir(f"/proc/{pid}/fd")),
    }


def binds(family, address):
    try:
        with socket.socket(family) as server:
            server.bind((address, 0))
        return True
    except OSError:
        return False


def runs_program_in(folder):
    path = os.path.join(folder, "program")
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 7\n")
    os.chmod(path, 0o755)
    try:
        return subprocess.run([path]).returncode == 7
    except OSError:
        return False
    finally:
        os.unlink(path)


def size_of(path):
    info = os.statvfs(path)
    return info.f_blocks * info.f_frsize


def output(*argv):
    return subprocess.run(argv, capture_output=True, text=True).stdout.split("\n")[:-1]


def first_line(*paths):
    for path in paths:
        if os.path.exists(path):
            return open(path).readline().split()[0]
    return None


own = status_fields()


def uid_of(pid):
    try:
        return status_fields(pid)["Uid"].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


others = [int(name) for name in os.listdir("/proc") if name.isdigit() and uid_of(name) == "0"]
group = "/sys/fs/cgroup/"
print(
    json.dumps(
        {
            "uid": os.getuid(),
            "capabilities": [own[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
            "noNewPrivileges": own["NoNewPrivs"],
            "seccomp": own["Seccomp"],
            "newUserNamespace": subprocess.run(["unshare", "--user", "true"], stderr=subprocess.DEVNULL).returncode == 0,
            "interfaces": sorted(os.listdir("/sys/class/net")),
            "routes": open("/proc/net/route").read().split("\n")[1:-1],
            "ipv6Routes": [line for line in open("/proc/net/ipv6_route") if not line.rstrip().endswith(" lo")],
            "writable": writable_places(),
            "reallyWritable": [path for path in ("/", "/etc", "/usr", "/base.git", "/start.git", "/bw/in", "/dev/mqueue", "/work", "/tmp", "/dev/shm", "/bw/out", os.environ["HOME"]) if can_write(path)],
            "holder": {str(pid): seen for pid in others if (seen := attacks(pid))},
            "ipv4Loopback": binds(socket.AF_INET, "127.0.0.1"),
            "ipv6Loopback": binds(socket.AF_INET6, "::1"),
            "hostname": socket.gethostname(),
            "ownAddress": socket.gethostbyname(socket.gethostname()),
            "tmpRunsPrograms": runs_program_in("/tmp"),
            "homeRunsPrograms": runs_program_in(os.environ["HOME"]),
            "sizes": {path: size_of(path) for path in ("/tmp", "/dev/shm", os.environ["HOME"])},
            "memory": first_line(group + "memory.max", group + "memory/memory.limit_in_bytes"),
            "memoryAndSwap": first_line(group + "memory/memory.memsw.limit_in_bytes"),
            "pids": first_line(group + "pids.max", group + "pids/pids.max"),
            "cpus": first_line(group + "cpu.max", group + "cpu/cpu.cfs_quota_us"),
            "environment": dict(os.environ),
            "workOwner": os.stat("/work").st_uid,
            "folder": os.getcwd(),
            "head": output("git", "rev-parse", "HEAD"),
            "status": output("git", "status", "--porcelain"),
            "objects": sorted(output("git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")),
        }
    )
)
