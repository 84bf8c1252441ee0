# collect START: writes `tree OID` and a line feed, then a pack of what START does not have. Runs as the builder's uid on
# the volume of a builder that has ended.
#
# Everything in /work is hostile. Git runs with a git directory, an index and a configuration made here; the builder's
# .git is never opened. The index starts from START's tree and knows no file times, so every file is read again: an index
# of the builder's could hide an edit of the same size within the same second.
#
# Exit 3: nested repositories, named on stderr, each ended by a zero byte.
set -eu
start=$1
export HOME=/scratch GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_OPTIONAL_LOCKS=0 LC_ALL=C
export GIT_DIR=/scratch/git
format=sha1
[ ${#start} -eq 64 ] && format=sha256

git init -q --bare --template= --object-format=$format "$GIT_DIR"
git config core.bare false
git config core.fileMode true
git config core.symlinks true
git config core.autocrlf false
git config core.precomposeUnicode false
git config core.fsync none
git config core.looseCompression 1
mkdir -p "$GIT_DIR/info" "$GIT_DIR/objects/info"
# The bytes as they are, whatever .gitattributes in the tree ask for.
echo '* -text -ident -filter -working-tree-encoding' > "$GIT_DIR/info/attributes"
for store in /base.git /start.git; do
  [ ! -d $store/objects ] || echo $store/objects >> "$GIT_DIR/objects/info/alternates"
  [ ! -f $store/shallow ] || cp $store/shallow "$GIT_DIR/shallow"
done
git read-tree "$start"

export GIT_WORK_TREE=/work
cd /work
# What its owner may not read git cannot read either; neither bit is one that git records.
find . -path ./.git -prune -o -type d ! -perm -u+rx -exec chmod u+rx {} \; -o -type f ! -perm -u+r -exec chmod u+r {} +

# A repository inside the work would become a bare pointer to commits that nobody else has.
git ls-files -z --others --exclude-standard > /scratch/others
tr '\0\n' '\n\001' < /scratch/others | sed -n 's,/$,,p' | tr '\n\001' '\0\n' > /scratch/nested
if [ -s /scratch/nested ]; then
  cat /scratch/nested >&2
  exit 3
fi
git add -A
tree=$(git write-tree)
echo "tree $tree"
# Its tree is named too: git does not follow a commit that is left out down to its files.
printf '%s\n^%s\n^%s\n' "$tree" "$start" "$(git rev-parse "$start^{tree}")" |
  git pack-objects -q --revs --stdout
