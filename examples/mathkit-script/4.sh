# Stands in for an agent: does item 4 of examples/mathkit/PLAN.md.
set -eu
echo '{"turn":true}'
echo '{"tool":"Write","detail":"mathkit/__main__.py"}'
cat > mathkit/__main__.py <<'EOF'
"""The mathkit command: `python3 -m mathkit primes LIMIT`, `python3 -m mathkit gcd A B`."""

import sys

from mathkit import gcd, primes_up_to


def main(args):
    if len(args) == 2 and args[0] == "primes":
        print(" ".join(str(n) for n in primes_up_to(int(args[1]))))
    elif len(args) == 3 and args[0] == "gcd":
        print(gcd(int(args[1]), int(args[2])))
    else:
        print("usage: mathkit primes LIMIT | mathkit gcd A B", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
EOF
cat > tests/test_command.py <<'EOF'
from mathkit.__main__ import main


def test_primes(capsys):
    assert main(["primes", "10"]) == 0
    assert capsys.readouterr().out == "2 3 5 7\n"


def test_gcd(capsys):
    assert main(["gcd", "12", "18"]) == 0
    assert capsys.readouterr().out == "6\n"


def test_anything_else_is_refused(capsys):
    assert main([]) == 1
    assert "usage" in capsys.readouterr().err
EOF
echo '{"turn":true}'
echo '{"tool":"Bash","detail":"python3 -m pytest -q"}'
python3 -m pytest -q
echo '{"tokens":{"input":1700,"output":480}}'
echo '{"say":"python3 -m mathkit knows primes and gcd."}'
