# shellcheck shell=bash
# Sourced: reading and filling environment files. A value that stands in one is never changed.

# env_value FILE NAME: the value as it stands, empty where the name is missing or has none.
env_value() {
  [ -f "$1" ] || return 0
  sed -n "s/^[[:space:]]*$2=//p" "$1" | tail -n 1
}

# env_fill FILE NAME VALUE: gives a name a value where it has none yet, in the place of its empty or commented line.
env_fill() {
  local file=$1 name=$2 value=$3 filled
  [ -z "$(env_value "$file" "$name")" ] || return 0
  filled=$(mktemp "$file.XXXXXX")
  # The value comes by the environment: awk would take backslashes in an assignment for escapes.
  NEW_LINE="$name=$value" awk -v name="$name" '
    !done && $0 ~ "^([[:space:]]*" name "=[[:space:]]*|#" name "=.*)$" { print ENVIRON["NEW_LINE"]; done = 1; next }
    { print }
    END { if (!done) print ENVIRON["NEW_LINE"] }
  ' "$file" >"$filled"
  chmod 600 "$filled"
  mv "$filled" "$file"
}

random_hex() { od -An -v -tx1 -N "$1" /dev/urandom | tr -d ' \n'; }

# Compose reads a dollar in an environment file as the start of a variable, and would hand on a shorter secret.
env_without_dollars() {
  local names
  names=$(sed -n "s/^[[:space:]]*\([A-Za-z_][A-Za-z_0-9]*\)=[^#']*\\$.*/\1/p" "$1" | paste -sd' ')
  [ -z "$names" ] || die "in $1 there is a \$ in the value of: $names" \
    "compose would take it for a variable; write \$\$ for each \$, or choose a value without"
}
