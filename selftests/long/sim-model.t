#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The simulator compared with the device model, on a thousand random scenarios.

SET=full . selftests/host/sim-model.t
