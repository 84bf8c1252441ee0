# Stands in for an agent: does item 1 of examples/mathkit/PLAN.md.
set -eu
echo '{"turn":true}'
echo '{"tool":"Write","detail":"mathkit/primes.py"}'
cat > mathkit/primes.py <<'EOF'
"""Prime numbers."""


def is_prime(n):
    """True when n is a prime number."""
    if n < 2:
        return False
    divisor = 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            return False
        divisor += 1
    return True


def primes_up_to(limit):
    """The primes up to and including limit, in order."""
    return [n for n in range(2, limit + 1) if is_prime(n)]
EOF
cat > tests/test_primes.py <<'EOF'
from mathkit import is_prime, primes_up_to


def test_small_numbers():
    assert [n for n in range(-2, 12) if is_prime(n)] == [2, 3, 5, 7, 11]


def test_squares_are_not_prime():
    assert not any(is_prime(n * n) for n in range(2, 20))


def test_primes_up_to_holds_its_limit():
    assert primes_up_to(13) == [2, 3, 5, 7, 11, 13]
    assert primes_up_to(1) == []
EOF
echo '{"tool":"Edit","detail":"mathkit/__init__.py"}'
sed -i 's/^from mathkit.stats import mean$/&\nfrom mathkit.primes import is_prime, primes_up_to/; s/^    "mean",$/&\n    "is_prime",\n    "primes_up_to",/' mathkit/__init__.py
echo '{"turn":true}'
echo '{"tool":"Bash","detail":"python3 -m pytest -q"}'
python3 -m pytest -q
echo '{"tokens":{"input":2100,"output":640}}'
echo '{"say":"is_prime and primes_up_to are in mathkit/primes.py, exported and tested."}'
