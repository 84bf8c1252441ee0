# check COMMIT BUNDLE WANTS COUNT REMOVE... COMMAND...: lays out COMMIT in /work and runs COMMAND there. Runs as the
# builder's uid in the project's image.
#
# COMMIT is empty when /work is right as it is. BUNDLE is yes when a git bundle comes on stdin. WANTS are paths, one a
# line. COUNT is how many REMOVE there are. Stdout is the command's stdout and stderr. Stderr is for the caller: what went
# wrong, or a line `start`; and when the command has ended, for each WANT that is there its number, a space, its size, a
# line feed and its bytes. Exits as the command does.
commit=$1
bundle=$2
wants=$3
count=$4
shift 4
umask 022

clean_git() {
  GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C git -c core.hooksPath=/dev/null "$@"
}

if [ "$bundle" = yes ]; then
  cat | clean_git bundle unbundle /dev/stdin > /dev/null || exit
fi
if [ -n "$commit" ]; then
  clean_git reset -q --hard "$commit" || exit
fi
while [ "$count" -gt 0 ]; do
  rm -rf -- "./$1" || exit
  shift
  count=$((count - 1))
done

echo start >&2
"$@" < /dev/null 2>&1
status=$?

# What the command left running could still write to what is read next, and would hold stdout open.
kill -9 -1 2> /dev/null
number=0
set -f
IFS='
'
for want in $wants; do
  if [ -f "$want" ] && [ -r "$want" ]; then
    size=$(wc -c < "$want")
    if [ "$size" -le 67108864 ]; then
      echo "$number $size" >&2
      head -c "$size" -- "$want" >&2
    fi
  fi
  number=$((number + 1))
done
exit "$status"
