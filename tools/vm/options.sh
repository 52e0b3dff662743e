# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Common options of the scripts that boot guests, and checks before a boot.

# shellcheck disable=SC2034 # read by the scripts that source this file
{
KERNEL=6.12
LOOP=
SHARE=
MODULES=
IGNORE='^$'
MEM=
SMP=
TIMEOUT=300
RUN_AS=root
ENVIRONMENT=()
}

# need OPTION VALUE REGEXP WHAT: rejects a VALUE that does not match REGEXP, as
# "not WHAT"
need()
{
	[[ $2 =~ ^($3)$ ]] || usage_error "$1: '$2' is not $4"
}

is_regexp()
{
	local status=0

	grep -qE -- "$1" </dev/null 2>/dev/null || status=$?
	[ "$status" -lt 2 ]
}

# need_value OPTION [VALUE]...: rejects an option without a value
need_value()
{
	[ $# -ge 2 ] || usage_error "$1 needs a value"
}

# guest_option OPTION [VALUE]...: handles an option that is not the script's
# own; rejects an unknown option.  shellcheck disable=SC2034
guest_option()
{
	local option=$1 value=${2:-}

	case $option in
	--kernel | --loop | --modules | --ignore | --share | --env | --user | \
		--timeout | --mem | --smp) ;;
	-*) usage_error "unknown option '$option'; --help lists them" ;;
	*) usage_error "unexpected '$option': the command follows '--'" ;;
	esac
	need_value "$@"
	case $option in
	--kernel)
		is_kernel "$value" || usage_error \
			"--kernel: '$value' is not one of $(kernel_list)"
		KERNEL=$value ;;
	--loop)
		need "$option" "$value" '[0-9]+(x[0-9]+)*' 'a size like 2x2x2'
		LOOP=$value ;;
	--modules)
		[ -e "$TOP/$value/angara.ko" ] || usage_error \
			"--modules: no angara.ko in '$value' of the repository"
		MODULES=$value ;;
	--ignore)
		is_regexp "$value" || usage_error \
			"--ignore: '$value' is not a regular expression"
		IGNORE=$value ;;
	--share)
		[ -d "$value" ] || usage_error "--share: '$value' is not a folder"
		SHARE=$(cd "$value" && pwd) ;;
	--env)
		need "$option" "$value" '[A-Za-z_][A-Za-z0-9_]*=.*' \
			'of the form NAME=VALUE'
		ENVIRONMENT+=("$value") ;;
	--user)
		need "$option" "$value" 'root|user|nobody' \
			'one of root, user, nobody'
		RUN_AS=$value ;;
	--timeout)
		need "$option" "$value" '[0-9]{1,9}' 'a number of seconds'
		TIMEOUT=$value ;;
	--mem)
		need "$option" "$value" '[1-9][0-9]{0,6}[MG]' 'a size like 512M or 2G'
		MEM=$value ;;
	--smp)
		need "$option" "$value" '[1-9][0-9]?' 'a number from 1 to 99'
		SMP=$value ;;
	esac
}

# need_guest DRIVER: sets defaults that depend on the kernel, and checks that
# the required parts are built. DRIVER is empty if no module is loaded.
need_guest()
{
	[ -s "$GUEST/image.stamp" ] ||
		die "no guest here yet: run 'make setup' first"
	if is_debug_kernel "$KERNEL"; then
		[ -s "$GUEST/boot/$KERNEL/stamp" ] ||
			die "no kernel $KERNEL yet: run 'make debug-kernels' first"
		MEM=${MEM:-2G}
	fi
	MODULES=${MODULES:-build/kernel/$KERNEL/driver}
	if [ -n "$1" ] && [ ! -e "$TOP/$MODULES/angara.ko" ]; then
		die "no modules for $KERNEL: run 'tools/vm/build modules $KERNEL' first"
	fi
}
