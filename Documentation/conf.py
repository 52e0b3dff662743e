# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sphinx makes HTML of the documents, see `make htmldocs`.

The documents are written so that web sites of repositories show them: links
between them are to files, and index.rst is a table of such links. They become
Sphinx's own here.
"""

import pathlib
import re

project = 'Angara'
author = 'The Angara authors'
project_copyright = '2026, ' + author
version = '.'.join(
    re.search(r'ANGARA_VERSION_%s\s+(\d+)' % part, pathlib.Path(
        __file__).parent.parent.joinpath('libangara/include/angara/types.h').read_text())[1]
    for part in ('MAJOR', 'MINOR', 'PATCH'))
release = version
html_theme = 'alabaster'
html_theme_options = {'page_width': '70em', 'nosidebar': True}
html_show_sphinx = False
highlight_language = 'none'


def use_sphinx_links(app, docname, source):
    """Links to other documents, and for index.rst their list."""
    text = source[0]
    others = re.findall(r'<([\w-]+)\.rst>`__', text)
    # One character less: tables keep their columns.
    text = re.sub(r'`([^`<]*?)\s<([\w-]+)\.rst>`__( ?)(?= )', r':doc:`\1 <\2>` \3', text)
    text = re.sub(r'`([^`<]*?)\s<([\w-]+)\.rst>`__', r':doc:`\1 <\2>`', text)
    if docname == 'index':
        text += '\n\n.. toctree::\n   :hidden:\n\n' + ''.join(
            f'   {name}\n' for name in dict.fromkeys(others))
    source[0] = text


def setup(app):
    app.connect('source-read', use_sphinx_links)
