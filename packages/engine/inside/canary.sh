# canary: tells what the kernel really enforces on this container, one `name value` a line. cgroup v1 and v2 keep the
# bounds in different files; where a bound is not kept at all, its file says so or is missing.
first() {
  for file in "$@"; do
    if [ -r "$file" ]; then
      head -n 1 "$file"
      return
    fi
  done
  echo missing
}
group=/sys/fs/cgroup
echo memory "$(first $group/memory.max $group/memory/memory.limit_in_bytes)"
echo swap "$(first $group/memory.swap.max $group/memory/memory.memsw.limit_in_bytes)"
echo pids "$(first $group/pids.max $group/pids/pids.max)"
quota=$(first $group/cpu.max $group/cpu/cpu.cfs_quota_us)
echo cpus "${quota%% *}"
if (: > /canary) 2> /dev/null; then echo root writable; else echo root read-only; fi
echo interfaces $(ls /sys/class/net)
echo routes $(tail -n +2 /proc/net/route 2> /dev/null | wc -l)
sed -n 's/^CapBnd:[[:space:]]*/capabilities /p; s/^NoNewPrivs:[[:space:]]*/nonewprivs /p; s/^Seccomp:[[:space:]]*/seccomp /p' /proc/self/status
