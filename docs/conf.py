"""Configuration of the site. `make docs` builds it offline into build/docs/html."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import gallery  # noqa: E402

import pybandit  # noqa: E402

project = "pybandit"
author = "pybandit developers"
copyright = author
version = release = pybandit.__version__

extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser", "sphinx_design",
    "sphinx_copybutton", "sphinx_gallery.gen_gallery",
    # extensions in _ext/
    "signatures", "links", "headers", "commands", "gallery",
]
exclude_patterns = ["_*", "gallery_saved", "gallery/**/*.py", "gallery/**/*.json",
                    "gallery/**/*.ipynb"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*"),  # names in docstrings: see links.py and tests/site
                        ("c:identifier", "(?!pb_).*")]
suppress_warnings = ["config.cache",  # the settings of the gallery have functions
                     "design.card_legacy"]  # +++ reads better in Markdown than a directive

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

default_role = "py:obj"
add_module_names = False
python_use_unqualified_type_names = True
autodoc_typehints = "none"  # docstrings have the types
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_imported_members = True
# names that differ only by case are the same file on some disks
autosummary_filename_map = {"pybandit.mcmc.laplace": "pybandit.mcmc.laplace_function"}
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
sphinx_gallery_conf = gallery.SETTINGS

html_theme = "pydata_sphinx_theme"
html_title = "pybandit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "pybandit", "image_light": "_static/mark.svg",
             "image_dark": "_static/mark.svg", "alt_text": "pybandit, the first page"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "collapse_navigation": True,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "use_edit_page_button": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "search_bar_text": "Search: a name, a question …",
}
