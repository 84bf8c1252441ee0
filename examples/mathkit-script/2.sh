# Stands in for an agent: does item 2 of examples/mathkit/PLAN.md.
set -eu
echo '{"turn":true}'
echo '{"tool":"Write","detail":"mathkit/gcdlcm.py"}'
cat > mathkit/gcdlcm.py <<'EOF'
"""Greatest common divisor and least common multiple."""


def gcd(a, b):
    """The greatest common divisor of two whole numbers; gcd(0, 0) is 0."""
    while b:
        a, b = b, a % b
    return abs(a)


def lcm(a, b):
    """The least common multiple of two whole numbers; 0 when one of them is 0."""
    return 0 if a == 0 or b == 0 else abs(a * b) // gcd(a, b)
EOF
cat > tests/test_gcdlcm.py <<'EOF'
from mathkit import gcd, lcm


def test_gcd():
    assert gcd(12, 18) == 6
    assert gcd(0, 0) == 0
    assert gcd(-4, 6) == 2


def test_lcm():
    assert lcm(4, 6) == 12
    assert lcm(0, 5) == 0
EOF
echo '{"tool":"Edit","detail":"mathkit/__init__.py"}'
sed -i 's/^from mathkit.stats import mean$/&\nfrom mathkit.gcdlcm import gcd, lcm/; s/^    "mean",$/&\n    "gcd",\n    "lcm",/' mathkit/__init__.py
echo '{"turn":true}'
echo '{"tool":"Bash","detail":"python3 -m pytest -q"}'
python3 -m pytest -q
echo '{"tokens":{"input":1900,"output":520}}'
echo '{"say":"gcd and lcm are in mathkit/gcdlcm.py, exported and tested."}'
