#!/usr/bin/env bash
# Installs the clients that others wrote into a folder (.tools/clients): roslib and
# the libraries of Foxglove with npm, roslibpy and those of servo vendors with pip, all in the versions that are
# pinned here. Says what is missing instead of failing half-way.
#
#   tools/clients/setup.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../.tools/clients}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

for tool in node npm python3; do
	command -v "$tool" >/dev/null 2>&1 || { echo "clients: $tool is missing; install it (Debian: apt-get install nodejs npm python3-venv)" >&2; exit 1; }
done

if ! cmp -s "$here/package-lock.json" "$folder/.installed-node"; then
	echo "clients: roslib and Foxglove's libraries into ${folder#"$PWD"/}"
	cp "$here/package.json" "$here/package-lock.json" "$folder/"
	(cd "$folder" && npm ci --silent --no-audit --no-fund)
	cp "$here/package-lock.json" "$folder/.installed-node"
fi

apart() { # folder, packages: without what they ask for, beside the others
	local target=$folder/$1
	shift
	rm -rf "$target"
	"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --no-compile --target "$target" "$@"
}

if ! cat "$here/requirements.txt" "$here/setup.sh" | cmp -s - "$folder/.installed-python"; then
	echo "clients: roslibpy and the libraries of servo vendors into ${folder#"$PWD"/}"
	python3 -m venv "$folder/venv"
	"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check -r "$here/requirements.txt"
	# the newer library of Feetech has the name of the older one
	apart ftservo ftservo-python-sdk==2.0.1
	# of LeRobot only its motor buses are used, and what they need
	apart lerobot lerobot==0.4.4 deepdiff==8.6.1 orderly-set==5.5.0 tqdm==4.70.1
	# in Python 2: its test puts it right as it is loaded
	apart pyherkulex pyherkulex==0.23
	# reads inertial units of WitMotion
	apart witmotion witmotion==0.0.1.dev0
	cat "$here/requirements.txt" "$here/setup.sh" >"$folder/.installed-python"
fi
