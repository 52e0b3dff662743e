#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The quick set of libfabric's own tests over the provider, on an embedded
# fabric; `make check-fabtests` runs all of them.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/fabtests/gate.sh

fabtests quick
plan
