"""Turn names in docstrings and in code spans of pages into links.

`best_of` in a docstring links to `pybandit.best_of`, in any module that documents it, and so does
``pb.best_of(...)`` on a page. Names without a page stay unchanged; most of them are parameters.
Links to files outside docs/ are changed to pages of the site, if it has them: a page of the
gallery, or a page that includes the file.
"""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

# in this order: if two modules have a name, the first one counts
MODULES = ("", "policies.", "evaluation.", "betting.", "racing.", "mcmc.", "cluster.", "studies.",
           "lab.", "webtests.", "stopping.", "environments.", "simulation.", "montecarlo.",
           "model_selection.", "factors.", "kernels.", "bounds.", "tables.", "errors.", "numba.")
SPAN = re.compile(r"(?:pb\.|pybandit\.)?([A-Za-z_][\w.]*)(?:\(.*\))?$", re.DOTALL)


def find(objects, name):
    """Return the full name under which a name is documented, or None."""
    name = re.sub(r"^(pb|pybandit)\.", "", name)
    while name:
        for module in MODULES:
            full = f"pybandit.{module}{name}"
            if full in objects:
                return full
        name = name.rpartition(".")[0]  # the class instead of its attribute
    return None


def resolve(app, env, node, contnode):
    """Resolve a name in a docstring; Sphinx searches only one module."""
    if node.get("refdomain") != "py" or node.get("reftype") == "mod":
        return None
    objects = env.domains.python_domain.objects
    target = node["reftarget"].lstrip("~.")
    own = node.get("py:class")
    full = find(objects, f"{own}.{target}") if own and f"pybandit.{own}.{target}" in objects \
        else find(objects, target)
    if full is None or (target.islower() and "." not in target and "_" not in target
                        and full.rpartition(".")[2] != target):
        return None
    found = objects[full]
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode, full)


class NamesInPages(SphinxPostTransform):
    """Links from code spans such as `pb.best_of(...)` on Markdown pages."""

    default_priority = 300

    def run(self, **kwargs):
        docname = self.env.current_document.docname
        if not str(self.env.doc2path(docname)).endswith(".md"):
            return
        objects = self.env.domains.python_domain.objects
        for node in list(self.document.findall(nodes.literal)):
            if self._is_in_title_or_link(node):
                continue
            full = self._named(objects, node.astext())
            if full is not None and objects[full].docname != docname:
                found = objects[full]
                node.replace_self(make_refnode(self.app.builder, docname, found.docname,
                                               found.node_id, node.deepcopy(), full))

    @staticmethod
    def _is_in_title_or_link(node):
        """Return True if a node is in a title or in a link."""
        parent = node.parent
        while parent is not None:
            if isinstance(parent, (nodes.title, nodes.reference)):
                return True
            parent = parent.parent
        return False

    @staticmethod
    def _named(objects, text):
        match = SPAN.match(text)
        if match is None:
            return None
        name = match[1]
        qualified = text.startswith(("pb.", "pybandit."))
        if not qualified and name.islower() and "_" not in name:
            return None  # such as `race` or `tables`, which are also words
        full = find(objects, name)
        if full is None or (not qualified and not full.endswith(f".{name}")):
            return None
        return full


def leads_out(app, docname, source):
    """Change links to files outside docs/ to pages of the site."""
    if not str(app.env.doc2path(docname)).endswith(".md"):
        return
    source[0] = re.sub(r"\]\((?:\.\./)+(examples/[\w/]+)\.(py|md)\)", _example, source[0])
    source[0] = re.sub(r"\]\((?:\.\./)+(CHANGELOG|CONTRIBUTING|SECURITY)\.md",
                       lambda match: f"](/reference/{match[1].lower()}.md", source[0])


def _example(match):
    from gallery import EXAMPLES, is_shown

    path = EXAMPLES.parent / f"{match[1]}.{match[2]}"
    page = match[1].replace("examples/", "/gallery/", 1)
    if match[2] == "md":
        return f"]({page}.md)"
    return f"]({page}.rst)" if is_shown(path) else match[0]


def setup(app):
    app.connect("missing-reference", resolve)
    app.connect("source-read", leads_out)
    app.add_post_transform(NamesInPages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
