#!/bin/sh
# Find a Python that this project runs on, and make its environment; says in words what is wrong before anything is downloaded.
#   sh envs/python.sh find [PYTHON]       print the best Python that is here, or check only PYTHON
#   sh envs/python.sh make VENV [PYTHON]  make the environment VENV with it, again if it has another Python
#   sh envs/python.sh usable VENV         print "no" where VENV is there and does not run, as after its folder was moved
set -u

NEEDED="3.11 3.12 3.13" # the one that was tested longest first; pyproject.toml has the same bounds
MANAGED="${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}" # where uv puts what it installs
found=""                                                         # what was found and is not right, a line each

# The version of a Python as 3.11.7, or the first line of why it does not run (a pyenv shim of a version that is not active, say).
version_of() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>&1
}

note() {
    found="$found
  $1"
}

# Print the path of a right Python and end well; else note what is wrong with it.
consider() {
    path=$(command -v "$1" 2>/dev/null) || return 1
    case " $seen " in *" $path "*) return 1 ;; esac
    seen="$seen $path"
    if ! version=$(version_of "$path"); then
        note "$path does not run: $(printf '%s\n' "$version" | head -n 1)"
        return 1
    fi
    minor=${version%.*}
    case " $NEEDED " in
        *" $minor "*) ;;
        *)
            case "$minor" in
                3.[0-9] | 3.10 | [0-2].*) age="too old" ;;
                *) age="too new, and not tried yet" ;;
            esac
            note "$path is Python $version: $age"
            return 1
            ;;
    esac
    if ! "$path" -c 'import ensurepip, venv' 2>/dev/null; then
        note "$path is Python $version, but cannot make environments: on Debian and Ubuntu, \`sudo apt install python$minor-venv\`"
        return 1
    fi
    printf '%s\n' "$path"
}

find_python() {
    seen=""
    if [ -n "${1:-}" ]; then
        consider "$1" && return 0
        [ -n "$found" ] || note "$1 is not there"
    else
        for minor in $NEEDED; do consider "python$minor" && return 0; done
        for name in python3 python; do consider "$name" && return 0; done
        # Of uv and pyenv, which need not be on the PATH
        for minor in $NEEDED; do
            for path in "$MANAGED/cpython-$minor."*"/bin/python$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$minor."*"/bin/python$minor"; do
                consider "$path" && return 0
            done
        done
    fi
    {
        echo "polyreward: needs Python 3.11, 3.12 or 3.13, and there is none to make its environment with:${found:-
  no Python is on the PATH}"
        echo "Nothing was downloaded. This installs one for you, next to what you have; then run make again${1:+, without PYTHON=}:"
        echo "  $(remedy)"
    } >&2
    return 1
}

# One command that brings a right Python, by what there is to run it.
remedy() {
    if command -v uv >/dev/null 2>&1; then
        echo "uv python install 3.12"
    elif command -v pipx >/dev/null 2>&1; then
        echo "pipx run uv python install 3.12"
    else
        for name in python3 python; do
            if "$name" -c 'import ensurepip, sys, venv; assert sys.version_info >= (3, 8)' >/dev/null 2>&1; then
                echo "$name -m venv ~/.uv && ~/.uv/bin/pip install uv && ~/.uv/bin/uv python install 3.12"
                return
            fi
        done
        echo "curl -LsSf https://astral.sh/uv/install.sh | sh && ~/.local/bin/uv python install 3.12"
    fi
}

minor_of() {
    version_of "$1" | sed 's/\.[^.]*$//'
}

# The interpreter that the environment's programs name in their first line; it is gone where the folder was moved.
runs() {
    [ -x "$1/bin/python" ] && version_of "$1/bin/python" >/dev/null || return 1
    [ -f "$1/bin/pip" ] || return 0
    named=$(sed -n '1s/^#!//p;1q' "$1/bin/pip")
    case "$named" in
        /bin/sh*) return 0 ;; # a path with spaces, or a long one: it is in the next line
        *) [ -z "$named" ] || [ -x "$named" ] ;;
    esac
}

make_venv() {
    python=$(find_python "${2:-}") || return 1
    clear=""
    if [ -e "$1" ]; then
        if ! runs "$1"; then
            echo "polyreward: $1 does not run here (its folder was moved, or its Python is gone); making it again" >&2
            clear="--clear"
        elif [ "$(minor_of "$1/bin/python")" != "$(minor_of "$python")" ]; then
            echo "polyreward: $1 is of Python $(version_of "$1/bin/python"); making it again with $(version_of "$python") ($python)" >&2
            clear="--clear"
        fi
    fi
    "$python" -m venv $clear "$1"
}

case "${1:-}" in
    find) find_python "${2:-}" ;;
    make) make_venv "$2" "${3:-}" ;;
    usable) if [ -e "$2" ] && ! runs "$2"; then echo no; fi ;;
    *)
        echo "usage: sh envs/python.sh find [PYTHON] | make VENV [PYTHON] | usable VENV" >&2
        exit 2
        ;;
esac
