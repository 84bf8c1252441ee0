# fill COMMIT THIN: makes a start commit's layer in /layer from a git bundle on stdin. Runs as the builder's uid.
#
# /layer is a bare repository with what is reachable from COMMIT (a thin one borrows from /base.git), with two more
# folders in it: upper, which becomes the checkout (for a thin one, what differs from the base's), and work.
set -eu
commit=$1
thin=$2
umask 022
export HOME=/tmp GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C
format=sha1
[ ${#commit} -eq 64 ] && format=sha256

git init -q --bare --template= --object-format=$format /layer
mkdir -p /layer/objects/info
if [ "$thin" = yes ]; then
  echo /base.git/objects > /layer/objects/info/alternates
  [ ! -f /base.git/shallow ] || cp /base.git/shallow /layer/shallow
  tree=/work
else
  tree=/layer/upper
fi
cat | git --git-dir=/layer bundle unbundle /dev/stdin > /dev/null

# A history that was cut off at its source (a shallow clone) has commits without their parents: name them.
if ! git --git-dir=/layer rev-list "$commit" > /dev/null 2>&1; then
  git --git-dir=/layer cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' |
    sed -n 's/^commit //p' > /tmp/commits
  git --git-dir=/layer log --no-walk --stdin --format='%H %P' < /tmp/commits > /tmp/parents
  awk 'NR == FNR { have[$1]; next } { for (i = 2; i <= NF; i++) if (!($i in have)) { print $1; next } }' \
    /tmp/commits /tmp/parents > /layer/shallow
fi
git --git-dir=/layer rev-list --objects "$commit" > /dev/null
git --git-dir=/layer update-ref refs/heads/start "$commit"

if [ "$thin" = no ]; then
  git init -q --template= --object-format=$format "$tree"
  cd "$tree"
  mkdir -p .git/objects/info .git/info
  # The bytes of the blobs, whatever .gitattributes ask for: what is collected must equal what is here.
  echo '* -text -ident -filter -working-tree-encoding' > .git/info/attributes
  git symbolic-ref HEAD refs/heads/builder
  git config gc.auto 0
  git config user.name builder
  git config user.email builder@localhost
  echo /base.git/objects > .git/objects/info/alternates
else
  cd "$tree"
  printf '%s\n' /base.git/objects /start.git/objects > .git/objects/info/alternates
fi
[ ! -f /layer/shallow ] || cp /layer/shallow .git/shallow
git reset -q --hard "$commit"
