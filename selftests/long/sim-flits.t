#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The flit engine with all of another simulator's numbers, and larger fabrics.

SET=full . selftests/host/sim-flits.t
