# hold KIB COMMAND...: runs COMMAND and ends when it does, or with 122 when /layer/upper has grown beyond KIB or the disk
# is nearly full. Runs as root without capabilities beside what it watches over; its end is the end of all of that.
#
# Without a capability it sees what others may read, which is all that programs write unless they hide it on purpose; what
# hides is bounded by the disk's last reserve, which stays for everybody else.
kib=$1
shift
reserve=262144
"$@" &
held=$!
while sleep 2; do
  kill -0 "$held" 2> /dev/null || break
  used=$(du -sxk /layer/upper 2> /dev/null | cut -f 1)
  [ "${used:-0}" -le "$kib" ] || exit 122
  free=$(df -Pk /layer/upper | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4)
  [ "${free:-$reserve}" -ge "$reserve" ] || exit 122
done
wait "$held"
