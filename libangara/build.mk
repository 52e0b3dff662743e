# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Settings that the makefiles of the library and the tools share. A makefile sets HERE and TOP
# before it includes this file, and OBJDIR before it calls flags_file.

# The release, as defined in libangara/include/angara/types.h.
VERSION := $(shell awk '/define ANGARA_VERSION_(MAJOR|MINOR|PATCH)/ { \
	printf "%s%s", dot, $$3; dot = "." }' \
	$(TOP)/libangara/include/angara/types.h)

O ?= $(TOP)/build/host

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions

INSTALL ?= install
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wundef

# hwloc finds the processors and caches to which processes are bound; it is optional.
HWLOC_CFLAGS = $(shell $(PKG_CONFIG) --exists hwloc && \
	echo -DANG_HAVE_HWLOC $$($(PKG_CONFIG) --cflags hwloc))
HWLOC_LIBS = $(shell $(PKG_CONFIG) --exists hwloc && $(PKG_CONFIG) --libs hwloc)

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

.DELETE_ON_ERROR:

# $(call flags_file,FLAGS): a file that is rebuilt when FLAGS, the compiler or
# its options change; not for `make clean`, which removes it.
flags_file = $(OBJDIR)/.flags$(if $(subst clean,,$(or $(MAKECMDGOALS),all)),$(shell \
	mkdir -p $(OBJDIR); printf '%s\n' '$(subst ','\'',$(1))' | \
		cmp -s - $(OBJDIR)/.flags || \
		printf '%s\n' '$(subst ','\'',$(1))' > $(OBJDIR)/.flags))
