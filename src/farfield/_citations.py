"""The documents that Farfield implements, and the keys they go by."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Final, final

_MARKS: Final = {'"': "\N{COMBINING DIAERESIS}", "'": "\N{COMBINING ACUTE ACCENT}"}
"""Signs over letters, by LaTeX's escape of each."""


def _read(text: str) -> str:
    """Replace the escapes of LaTeX in a text by letters."""

    def letter(found: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", found[2] + _MARKS[found[1]])

    return re.sub(r"\{\\(.)(\w)\}", letter, text)


@final
@dataclass(frozen=True, kw_only=True)
class Reference:
    """A document that docstrings and claims cite by its key.

    Args:
        key: Name used everywhere in code, claims and reports, e.g. `"webb2021"`.
        authors: Authors, in BibTeX form.
        title: Title as published.
        venue: Journal, conference or school.
        year: Year of publication.
        kind: BibTeX entry type.
    """

    key: str
    authors: str
    title: str
    venue: str
    year: int
    kind: str = "inproceedings"

    def unescaped(self) -> Reference:
        """Copy the document with letters for the escapes of LaTeX, for reading."""
        return replace(
            self,
            authors=_read(self.authors),
            title=_read(self.title),
            venue=_read(self.venue),
        )

    def bibtex(self) -> str:
        """Format the entry."""
        place = {"article": "journal", "phdthesis": "school", "misc": "howpublished"}
        fields = {
            "author": self.authors,
            "title": "{" + self.title + "}",
            place.get(self.kind, "booktitle"): self.venue,
            "year": str(self.year),
        }
        body = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items())
        return f"@{self.kind}{{{self.key},\n{body}\n}}"


REFERENCES: Final[dict[str, Reference]] = {
    reference.key: reference
    for reference in (
        Reference(
            key="webb2020",
            authors=(
                "Webb, Taylor W. and Dulberg, Zachary and Frankland, Steven M. and "
                "Petrov, Alexander A. and O'Reilly, Randall C. and Cohen, Jonathan D."
            ),
            title="Learning Representations that Support Extrapolation",
            venue="International Conference on Machine Learning",
            year=2020,
        ),
        Reference(
            key="gondal2021",
            authors=(
                "Gondal, Muhammad Waleed and Rahaman, Nasim and Joshi, Shruti and Gehler, Peter "
                'and Bengio, Yoshua and Locatello, Francesco and Sch{\\"o}lkopf, Bernhard'
            ),
            title="Dynamic Inference with Neural Interpreters",
            venue="Advances in Neural Information Processing Systems",
            year=2021,
        ),
        Reference(
            key="ren2017",
            authors=(
                "Ren, Mengye and Liao, Renjie and Urtasun, Raquel and Sinz, Fabian H. and "
                "Zemel, Richard S."
            ),
            title=(
                "Normalizing the Normalizers: Comparing and Extending Network Normalization Schemes"
            ),
            venue="International Conference on Learning Representations",
            year=2017,
        ),
        Reference(
            key="huang2018",
            authors="Huang, Lei and Yang, Dawei and Lang, Bo and Deng, Jia",
            title="Decorrelated Batch Normalization",
            venue="IEEE/CVF Conference on Computer Vision and Pattern Recognition",
            year=2018,
        ),
        Reference(
            key="zhang2019",
            authors=(
                "Zhang, Chi and Gao, Feng and Jia, Baoxiong and Zhu, Yixin and Zhu, Song-Chun"
            ),
            title="RAVEN: A Dataset for Relational and Analogical Visual rEasoNing",
            venue="IEEE/CVF Conference on Computer Vision and Pattern Recognition",
            year=2019,
        ),
        Reference(
            key="hill2019",
            authors=(
                "Hill, Felix and Santoro, Adam and Barrett, David G. T. and Morcos, Ari S. and "
                "Lillicrap, Timothy"
            ),
            title="Learning to Make Analogies by Contrasting Abstract Relational Structure",
            venue="International Conference on Learning Representations",
            year=2019,
        ),
        Reference(
            key="barrett2018",
            authors=(
                "Barrett, David G. T. and Hill, Felix and Santoro, Adam and Morcos, Ari S. and "
                "Lillicrap, Timothy"
            ),
            title="Measuring Abstract Reasoning in Neural Networks",
            venue="International Conference on Machine Learning",
            year=2018,
        ),
        Reference(
            key="hu2021",
            authors="Hu, Sheng and Ma, Yuqing and Liu, Xianglong and Wei, Yanlu and Bai, Shihao",
            title="Stratified Rule-Aware Network for Abstract Visual Reasoning",
            venue="AAAI Conference on Artificial Intelligence",
            year=2021,
        ),
        Reference(
            key="webb2021",
            authors="Webb, Taylor W. and Sinha, Ishan and Cohen, Jonathan D.",
            title="Emergent Symbols through Binding in External Memory",
            venue="International Conference on Learning Representations",
            year=2021,
        ),
        Reference(
            key="lamb2022",
            authors="Lamb, Alex",
            title="Latent Data Augmentation and Modular Structure for Improved Generalization",
            venue="Universit{\\'e} de Montr{\\'e}al",
            year=2022,
            kind="phdthesis",
        ),
        Reference(
            key="goyal2021",
            authors=(
                "Goyal, Anirudh and Lamb, Alex and Hoffmann, Jordan and Sodhani, Shagun and "
                'Levine, Sergey and Bengio, Yoshua and Sch{\\"o}lkopf, Bernhard'
            ),
            title="Recurrent Independent Mechanisms",
            venue="International Conference on Learning Representations",
            year=2021,
        ),
        Reference(
            key="kerg2022",
            authors=(
                "Kerg, Giancarlo and Mittal, Sarthak and Rolnick, David and Bengio, Yoshua and "
                "Richards, Blake and Lajoie, Guillaume"
            ),
            title="On Neural Architecture Inductive Biases for Relational Tasks",
            venue="arXiv:2206.05056",
            year=2022,
            kind="misc",
        ),
        Reference(
            key="zaheer2017",
            authors=(
                "Zaheer, Manzil and Kottur, Satwik and Ravanbakhsh, Siamak and "
                "P{\\'o}czos, Barnab{\\'a}s and Salakhutdinov, Ruslan and Smola, Alexander"
            ),
            title="Deep Sets",
            venue="Advances in Neural Information Processing Systems",
            year=2017,
        ),
        Reference(
            key="graves2014",
            authors="Graves, Alex and Wayne, Greg and Danihelka, Ivo",
            title="Neural Turing Machines",
            venue="arXiv:1410.5401",
            year=2014,
            kind="misc",
        ),
        Reference(
            key="graves2016",
            authors=(
                "Graves, Alex and Wayne, Greg and Reynolds, Malcolm and Harley, Tim and "
                "Danihelka, Ivo and Grabska-Barwi{\\'n}ska, Agnieszka and others"
            ),
            title="Hybrid Computing Using a Neural Network with Dynamic External Memory",
            venue="Nature",
            year=2016,
            kind="article",
        ),
        Reference(
            key="henaff2017",
            authors=(
                "Henaff, Mikael and Weston, Jason and Szlam, Arthur and Bordes, Antoine and "
                "LeCun, Yann"
            ),
            title="Tracking the World State with Recurrent Entity Networks",
            venue="International Conference on Learning Representations",
            year=2017,
        ),
        Reference(
            key="santoro2018",
            authors=(
                "Santoro, Adam and Faulkner, Ryan and Raposo, David and Rae, Jack and "
                "Chrzanowski, Mike and Weber, Th{\\'e}ophane and Wierstra, Daan and "
                "Vinyals, Oriol and Pascanu, Razvan and Lillicrap, Timothy"
            ),
            title="Relational Recurrent Neural Networks",
            venue="Advances in Neural Information Processing Systems",
            year=2018,
        ),
        Reference(
            key="locatello2020",
            authors=(
                "Locatello, Francesco and Weissenborn, Dirk and Unterthiner, Thomas and "
                "Mahendran, Aravindh and Heigold, Georg and Uszkoreit, Jakob and "
                "Dosovitskiy, Alexey and Kipf, Thomas"
            ),
            title="Object-Centric Learning with Slot Attention",
            venue="Advances in Neural Information Processing Systems",
            year=2020,
        ),
        Reference(
            key="fleuret2011",
            authors=(
                "Fleuret, François and Li, Ting and Dubout, Charles and "
                "Wampler, Emma K. and Yantis, Steven and Geman, Donald"
            ),
            title="Comparing Machines and Humans on a Visual Categorization Test",
            venue="Proceedings of the National Academy of Sciences",
            year=2011,
        ),
        Reference(
            key="webb2023",
            authors="Webb, Taylor W. and Mondal, Shanka Subhra and Cohen, Jonathan D.",
            title="Systematic Visual Reasoning through Object-Centric Relational Abstraction",
            venue="Advances in Neural Information Processing Systems",
            year=2023,
        ),
        Reference(
            key="mondal2024",
            authors="Mondal, Shanka Subhra and Cohen, Jonathan D. and Webb, Taylor W.",
            title="Slot Abstractors: Toward Scalable Abstract Visual Reasoning",
            venue="International Conference on Machine Learning",
            year=2024,
        ),
        Reference(
            key="altabaa2023",
            authors="Altabaa, Awni and Lafferty, John",
            title=(
                "Learning Hierarchical Relational Representations through Relational Convolutions"
            ),
            venue="arXiv:2310.03240",
            year=2023,
            kind="misc",
        ),
        Reference(
            key="altabaa2024",
            authors="Altabaa, Awni and Webb, Taylor and Cohen, Jonathan and Lafferty, John",
            title=(
                "Abstractors and Relational Cross-Attention: An Inductive Bias for Explicit "
                "Relational Reasoning in Transformers"
            ),
            venue="International Conference on Learning Representations",
            year=2024,
        ),
        Reference(
            key="lafferty2024",
            authors="Altabaa, Awni and Lafferty, John",
            title=(
                "Disentangling and Integrating Relational and Sensory Information in Transformer "
                "Architectures"
            ),
            venue="arXiv:2405.16727",
            year=2024,
            kind="misc",
        ),
        Reference(
            key="press2022",
            authors="Press, Ofir and Smith, Noah A. and Lewis, Mike",
            title=(
                "Train Short, Test Long: Attention with Linear Biases Enables Input Length "
                "Extrapolation"
            ),
            venue="International Conference on Learning Representations",
            year=2022,
        ),
        Reference(
            key="orvieto2023",
            authors=(
                "Orvieto, Antonio and Smith, Samuel L. and Gu, Albert and Fernando, Anushan and "
                "Gulcehre, Caglar and Pascanu, Razvan and De, Soham"
            ),
            title="Resurrecting Recurrent Neural Networks for Long Sequences",
            venue="International Conference on Machine Learning",
            year=2023,
        ),
        Reference(
            key="gu2023",
            authors="Gu, Albert and Dao, Tri",
            title="Mamba: Linear-Time Sequence Modeling with Selective State Spaces",
            venue="arXiv preprint arXiv:2312.00752",
            year=2023,
        ),
        Reference(
            key="yang2024",
            authors=(
                "Yang, Songlin and Wang, Bailin and Shen, Yikang and Panda, Rameswar and Kim, Yoon"
            ),
            title="Gated Linear Attention Transformers with Hardware-Efficient Training",
            venue="International Conference on Machine Learning",
            year=2024,
        ),
        Reference(
            key="beck2024",
            authors=(
                "Beck, Maximilian and Pöppel, Korbinian and Spanring, Markus and Auer, Andreas and "
                "Prudnikova, Oleksandra and Kopp, Michael and Klambauer, Günter and "
                "Brandstetter, Johannes and Hochreiter, Sepp"
            ),
            title="xLSTM: Extended Long Short-Term Memory",
            venue="Advances in Neural Information Processing Systems",
            year=2024,
        ),
        Reference(
            key="yang2025",
            authors="Yang, Songlin and Kautz, Jan and Hatamizadeh, Ali",
            title="Gated Delta Networks: Improving Mamba2 with Delta Rule",
            venue="International Conference on Learning Representations",
            year=2025,
        ),
        Reference(
            key="grazzi2025",
            authors=(
                "Grazzi, Riccardo and Siems, Julien and Zela, Arber and Franke, Jörg K. H. and "
                "Hutter, Frank and Pontil, Massimiliano"
            ),
            title="Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues",
            venue="International Conference on Learning Representations",
            year=2025,
        ),
    )
}
