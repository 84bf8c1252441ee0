# Stands in for an agent: does item 3 of examples/mathkit/PLAN.md.
set -eu
echo '{"turn":true}'
echo '{"tool":"Edit","detail":"tests/test_stats.py"}'
cat >> tests/test_stats.py <<'EOF'


def test_mean_of_two_values():
    assert mean([2, 4]) == 3
EOF
echo '{"turn":true}'
echo '{"tool":"Edit","detail":"mathkit/stats.py"}'
sed -i 's/max(len(values) - 1, 1)/len(values)/' mathkit/stats.py
echo '{"tool":"Bash","detail":"python3 -m pytest -q"}'
python3 -m pytest -q
echo '{"tokens":{"input":1500,"output":260}}'
echo '{"say":"mean divided by one too few; a test with two values shows it."}'
