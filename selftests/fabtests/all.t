#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# All of libfabric's own tests over the provider, on an embedded fabric.

set -u
. selftests/tap.sh
. selftests/variant.sh
. selftests/fabtests/gate.sh

fabtests all
plan
