"""The literature that the card cites, and its citations: short names that link to the list of references."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evalpipe.card.page import Cite, Link

if TYPE_CHECKING:
    from evalpipe.card.page import Piece


BIBLIOGRAPHY: Final = {
    "Allen (1974)": (
        "Allen, D. M. (1974). The relationship between variable selection and data augmentation and a method for "
        "prediction. Technometrics 16(1), 125–127."),
    "Altman & Bland (1994)": (
        "Altman, D. G. & Bland, J. M. (1994). Diagnostic tests 2: predictive values. BMJ 309, 102."),
    "Atkinson (1985)": (
        "Atkinson, A. C. (1985). Plots, Transformations and Regression: An Introduction to Graphical Methods of "
        "Diagnostic Regression Analysis. Oxford University Press."),
    "Austin & Steyerberg (2019)": (
        "Austin, P. C. & Steyerberg, E. W. (2019). The integrated calibration index (ICI) and related metrics for "
        "quantifying the calibration of logistic regression models. Statistics in Medicine 38(21), 4051–4065."),
    "Ayer et al. (1955)": (
        "Ayer, M., Brunk, H. D., Ewing, G. M., Reid, W. T. & Silverman, E. (1955). An empirical distribution function "
        "for sampling with incomplete information. The Annals of Mathematical Statistics 26(4), 641–647."),
    "Bellon-Maurel et al. (2010)": (
        "Bellon-Maurel, V., Fernandez-Ahumada, E., Palagos, B., Roger, J.-M. & McBratney, A. (2010). Critical review "
        "of chemometric indicators commonly used for assessing the quality of the prediction of soil attributes by "
        "NIR spectroscopy. TrAC Trends in Analytical Chemistry 29(9), 1073–1081."),
    "Biecek & Burzykowski (2021)": (
        "Biecek, P. & Burzykowski, T. (2021). Explanatory Model Analysis. Chapman and Hall/CRC."),
    "Breiman (1996)": (
        "Breiman, L. (1996). Bagging predictors. Machine Learning 24(2), 123–140."),
    "Breiman et al. (1984)": (
        "Breiman, L., Friedman, J. H., Olshen, R. A. & Stone, C. J. (1984). Classification and Regression Trees. "
        "Wadsworth."),
    "Breslow & Day (1987)": (
        "Breslow, N. E. & Day, N. E. (1987). Statistical Methods in Cancer Research, Volume II: The Design and "
        "Analysis of Cohort Studies. International Agency for Research on Cancer."),
    "Brier (1950)": (
        "Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly Weather Review "
        "78(1), 1–3."),
    "Brodersen et al. (2010)": (
        "Brodersen, K. H., Ong, C. S., Stephan, K. E. & Buhmann, J. M. (2010). The balanced accuracy and its "
        "posterior distribution. 20th International Conference on Pattern Recognition, 3121–3124."),
    "Buckley & Voorhees (2000)": (
        "Buckley, C. & Voorhees, E. M. (2000). Evaluating evaluation measure stability. SIGIR 2000, 33–40."),
    "Cameron & Windmeijer (1996)": (
        "Cameron, A. C. & Windmeijer, F. A. G. (1996). R-squared measures for count data regression models with "
        "applications to health-care utilization. Journal of Business & Economic Statistics 14(2), 209–220."),
    "Chen et al. (2021)": (
        "Chen, M., Tworek, J., Jun, H. et al. (2021). Evaluating large language models trained on code. "
        "arXiv:2107.03374."),
    "Chiang et al. (2024)": (
        "Chiang, W.-L., Zheng, L., Sheng, Y. et al. (2024). Chatbot Arena: an open platform for evaluating LLMs "
        "by human preference. Proceedings of the 41st International Conference on Machine Learning, PMLR 235, "
        "8359–8388."),
    "Chow (1970)": (
        "Chow, C. K. (1970). On optimum recognition error and reject tradeoff. IEEE Transactions on Information "
        "Theory 16(1), 41–46."),
    "Cohen (1960)": (
        "Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement "
        "20(1), 37–46."),
    "Cohen (1968)": (
        "Cohen, J. (1968). Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial "
        "credit. Psychological Bulletin 70(4), 213–220."),
    "Cox (1958)": (
        "Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika 45(3/4), 562–565."),
    "Davis & Goadrich (2006)": (
        "Davis, J. & Goadrich, M. (2006). The relationship between precision-recall and ROC curves. ICML 2006, "
        "233–240."),
    "Dimitriadis, Gneiting & Jordan (2021)": (
        "Dimitriadis, T., Gneiting, T. & Jordan, A. I. (2021). Stable reliability diagrams for probabilistic "
        "classifiers. Proceedings of the National Academy of Sciences 118(8), e2016191118."),
    "Donaldson et al. (1975)": (
        "Donaldson, R. J., Dyer, R. M. & Kraus, M. J. (1975). An objective evaluator of techniques for predicting "
        "severe weather events. Preprints, 9th Conference on Severe Local Storms, American Meteorological Society, "
        "321–326."),
    "Durbin & Watson (1950)": (
        "Durbin, J. & Watson, G. S. (1950). Testing for serial correlation in least squares regression: I. Biometrika "
        "37(3–4), 409–428."),
    "Elkan (2001)": (
        "Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI 2001, 973–978."),
    "Epstein (1969)": (
        "Epstein, E. S. (1969). A scoring system for probability forecasts of ranked categories. Journal of Applied "
        "Meteorology 8(6), 985–987."),
    "Fawcett (2006)": (
        "Fawcett, T. (2006). An introduction to ROC analysis. Pattern Recognition Letters 27(8), 861–874."),
    "Ferro & Stephenson (2011)": (
        "Ferro, C. A. T. & Stephenson, D. B. (2011). Extremal dependence indices: improved verification measures for "
        "deterministic forecasts of rare binary events. Weather and Forecasting 26(5), 699–713."),
    "Fisher (1922)": (
        "Fisher, R. A. (1922). On the mathematical foundations of theoretical statistics. Philosophical Transactions "
        "of the Royal Society of London, Series A 222, 309–368."),
    "Fleiss (1971)": (
        "Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76(5), "
        "378–382."),
    "Gandin & Murphy (1992)": (
        "Gandin, L. S. & Murphy, A. H. (1992). Equitable skill scores for categorical forecasts. Monthly Weather "
        "Review 120(2), 361–370."),
    "Gaudette & Japkowicz (2009)": (
        "Gaudette, L. & Japkowicz, N. (2009). Evaluation methods for ordinal classification. Advances in Artificial "
        "Intelligence, Lecture Notes in Computer Science 5549, 207–210."),
    "Gauss (1823)": (
        "Gauss, C. F. (1823). Theoria combinationis observationum erroribus minimis obnoxiae. Dieterich, Göttingen."),
    "Gilbert (1884)": (
        "Gilbert, G. K. (1884). Finley’s tornado predictions. American Meteorological Journal 1, 166–172."),
    "Glas et al. (2003)": (
        "Glas, A. S., Lijmer, J. G., Prins, M. H., Bonsel, G. J. & Bossuyt, P. M. M. (2003). The diagnostic odds "
        "ratio: a single indicator of test performance. Journal of Clinical Epidemiology 56(11), 1129–1135."),
    "Good (1952)": (
        "Good, I. J. (1952). Rational decisions. Journal of the Royal Statistical Society, Series B 14(1), 107–114."),
    "Gorodkin (2004)": (
        "Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation coefficient. "
        "Computational Biology and Chemistry 28(5–6), 367–374."),
    "Guo et al. (2017)": (
        "Guo, C., Pleiss, G., Sun, Y. & Weinberger, K. Q. (2017). On calibration of modern neural networks. ICML "
        "2017, Proceedings of Machine Learning Research 70, 1321–1330."),
    "Hand & Till (2001)": (
        "Hand, D. J. & Till, R. J. (2001). A simple generalisation of the area under the ROC curve for multiple class "
        "classification problems. Machine Learning 45(2), 171–186."),
    "Hand (1997)": (
        "Hand, D. J. (1997). Construction and Assessment of Classification Rules. Wiley."),
    "Hanley & McNeil (1982)": (
        "Hanley, J. A. & McNeil, B. J. (1982). The meaning and use of the area under a receiver operating "
        "characteristic (ROC) curve. Radiology 143(1), 29–36."),
    "Harrell (2015)": (
        "Harrell, F. E. (2015). Regression Modeling Strategies, 2nd edition. Springer."),
    "Harrell et al. (1996)": (
        "Harrell, F. E., Lee, K. L. & Mark, D. B. (1996). Multivariable prognostic models: issues in developing "
        "models, evaluating assumptions and adequacy, and measuring and reducing errors. Statistics in Medicine "
        "15(4), 361–387."),
    "Hartley & Zisserman (2004)": (
        "Hartley, R. & Zisserman, A. (2004). Multiple View Geometry in Computer Vision, 2nd edition. Cambridge "
        "University Press."),
    "Hastie, Tibshirani & Friedman (2009)": (
        "Hastie, T., Tibshirani, R. & Friedman, J. (2009). The Elements of Statistical Learning. 2nd ed., Springer, "
        "section 9.2.3."),
    "Hastie, Tibshirani & Wainwright (2015)": (
        "Hastie, T., Tibshirani, R. & Wainwright, M. (2015). Statistical Learning with Sparsity: The Lasso and "
        "Generalizations. Chapman and Hall/CRC."),
    "Hendrycks, Mazeika & Dietterich (2019)": (
        "Hendrycks, D., Mazeika, M. & Dietterich, T. (2019). Deep anomaly detection with outlier exposure. ICLR 2019."),
    "Hosmer & Lemeshow (1980)": (
        "Hosmer, D. W. & Lemeshow, S. (1980). Goodness of fit tests for the multiple logistic regression model. "
        "Communications in Statistics – Theory and Methods 9(10), 1043–1069."),
    "Huber (1964)": (
        "Huber, P. J. (1964). Robust estimation of a location parameter. The Annals of Mathematical Statistics 35(1), "
        "73–101."),
    "Hyndman & Fan (1996)": (
        "Hyndman, R. J. & Fan, Y. (1996). Sample quantiles in statistical packages. The American Statistician "
        "50(4), 361–365."),
    "Jarvelin & Kekalainen (2002)": (
        "Järvelin, K. & Kekäläinen, J. (2002). Cumulated gain-based evaluation of IR techniques. ACM Transactions on "
        "Information Systems 20(4), 422–446."),
    "Jorgensen (1987)": (
        "Jørgensen, B. (1987). Exponential dispersion models. Journal of the Royal Statistical Society, Series B "
        "49(2), 127–162."),
    "Kapoor et al. (2024)": (
        "Kapoor, S., Stroebl, B., Siegel, Z. S., Nadgir, N. & Narayanan, A. (2024). AI agents that matter. "
        "arXiv:2407.01502."),
    "Koenker & Bassett (1978)": (
        "Koenker, R. & Bassett, G. (1978). Regression quantiles. Econometrica 46(1), 33–50."),
    "Koenker & Machado (1999)": (
        "Koenker, R. & Machado, J. A. F. (1999). Goodness of fit and related inference processes for quantile "
        "regression. Journal of the American Statistical Association 94(448), 1296–1310."),
    "Kuhn & Johnson (2013)": (
        "Kuhn, M. & Johnson, K. (2013). Applied Predictive Modeling. Springer."),
    "Kuhn (2008)": (
        "Kuhn, M. (2008). Building predictive models in R using the caret package. Journal of Statistical Software "
        "28(5), 1–26."),
    "Kuhn et al. (2026)": (
        "Kuhn, M., Vaughan, D. & Ruiz, E. (2026). probably: Tools for Post-Processing Predicted Values. R package."),
    "Kuhn, Vaughan & Hvitfeldt (2025)": (
        "Kuhn, M., Vaughan, D. & Hvitfeldt, E. (2025). yardstick: Tidy Characterizations of Model Performance. R "
        "package."),
    "Kull et al. (2019)": (
        "Kull, M., Perello Nieto, M., Kängsepp, M., Silva Filho, T., Song, H. & Flach, P. (2019). Beyond temperature "
        "scaling: obtaining well-calibrated multi-class probabilities with Dirichlet calibration. Advances in Neural "
        "Information Processing Systems 32."),
    "Kull, Silva Filho & Flach (2017)": (
        "Kull, M., Silva Filho, T. M. & Flach, P. (2017). Beyond sigmoids: how to obtain well-calibrated "
        "probabilities from binary classifiers with beta calibration. Electronic Journal of Statistics 11(2), "
        "5052–5080."),
    "Kvalseth (1985)": (
        "Kvålseth, T. O. (1985). Cautionary note about R². The American Statistician 39(4), 279–285."),
    "Landram et al. (2005)": (
        "Landram, F. G., Abdullat, A. & Shah, V. (2005). The coefficient of prediction for model specification. "
        "Southwestern Economic Review 32, 149–156."),
    "Lin (1989)": (
        "Lin, L. I.-K. (1989). A concordance correlation coefficient to evaluate reproducibility. Biometrics 45(1), "
        "255–268."),
    "Ling & Li (1998)": (
        "Ling, C. X. & Li, C. (1998). Data mining for direct marketing: problems and solutions. KDD-98, 73–79."),
    "Makridakis (1993)": (
        "Makridakis, S. (1993). Accuracy measures: theoretical and practical concerns. International Journal of "
        "Forecasting 9(4), 527–529."),
    "Manning, Raghavan & Schutze (2008)": (
        "Manning, C. D., Raghavan, P. & Schütze, H. (2008). Introduction to Information Retrieval. Cambridge "
        "University Press."),
    "McClish (1989)": (
        "McClish, D. K. (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9(3), 190–195."),
    "McCullagh & Nelder (1989)": (
        "McCullagh, P. & Nelder, J. A. (1989). Generalized Linear Models, 2nd edition. Chapman and Hall."),
    "McFadden (1974)": (
        "McFadden, D. (1974). Conditional logit analysis of qualitative choice behavior. In P. Zarembka (ed.), "
        "Frontiers in Econometrics, 105–142. Academic Press."),
    "McSherry & Najork (2008)": (
        "McSherry, F. & Najork, M. (2008). Computing information retrieval performance measures efficiently in the "
        "presence of tied scores. In Advances in Information Retrieval: ECIR 2008, LNCS 4956, 414–421. Springer."),
    "Miller (2024)": (
        "Miller, E. (2024). Adding error bars to evals: a statistical approach to language model evaluations. "
        "arXiv:2411.00640."),
    "Miller et al. (1993)": (
        "Miller, M. E., Langefeld, C. D., Tierney, W. M., Hui, S. L. & McDonald, C. J. (1993). Validation of "
        "probabilistic predictions. Medical Decision Making 13(1), 49–57."),
    "Mincer & Zarnowitz (1969)": (
        "Mincer, J. & Zarnowitz, V. (1969). The evaluation of economic forecasts. In J. Mincer (ed.), Economic "
        "Forecasts and Expectations, 3–46. National Bureau of Economic Research."),
    "Murphy (1973)": (
        "Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied Meteorology 12(4), "
        "595–600."),
    "Naeini, Cooper & Hauskrecht (2015)": (
        "Naeini, M. P., Cooper, G. F. & Hauskrecht, M. (2015). Obtaining well calibrated probabilities using Bayesian "
        "binning. AAAI 2015, 2901–2907."),
    "Nagelkerke (1991)": (
        "Nagelkerke, N. J. D. (1991). A note on a general definition of the coefficient of determination. Biometrika "
        "78(3), 691–692."),
    "Nelder & Wedderburn (1972)": (
        "Nelder, J. A. & Wedderburn, R. W. M. (1972). Generalized linear models. Journal of the Royal Statistical "
        "Society, Series A 135(3), 370–384."),
    "Nixon et al. (2019)": (
        "Nixon, J., Dusenberry, M. W., Zhang, L., Jerfel, G. & Tran, D. (2019). Measuring calibration in deep "
        "learning. CVPR Workshops, 38–41."),
    "Pedregosa et al. (2011)": (
        "Pedregosa, F., Varoquaux, G., Gramfort, A. et al. (2011). Scikit-learn: machine learning in Python. Journal "
        "of Machine Learning Research 12, 2825–2830."),
    "Pepe (2003)": (
        "Pepe, M. S. (2003). The Statistical Evaluation of Medical Tests for Classification and Prediction. Oxford "
        "University Press."),
    "Perkins & Schisterman (2006)": (
        "Perkins, N. J. & Schisterman, E. F. (2006). The inconsistency of “optimal” cutpoints obtained using two "
        "criteria based on the receiver operating characteristic curve. American Journal of Epidemiology 163(7), "
        "670–675."),
    "Platt (1999)": (
        "Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to regularized "
        "likelihood methods. In Advances in Large Margin Classifiers, 61–74. MIT Press."),
    "Powers (2011)": (
        "Powers, D. M. W. (2011). Evaluation: from precision, recall and F-measure to ROC, informedness, markedness "
        "and correlation. Journal of Machine Learning Technologies 2(1), 37–63."),
    "Russakovsky et al. (2015)": (
        "Russakovsky, O., Deng, J., Su, H. et al. (2015). ImageNet large scale visual recognition challenge. "
        "International Journal of Computer Vision 115(3), 211–252."),
    "Saerens, Latinne & Decaestecker (2002)": (
        "Saerens, M., Latinne, P. & Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a priori "
        "probabilities: a simple procedure. Neural Computation 14(1), 21–41."),
    "Sanders (1963)": (
        "Sanders, F. (1963). On subjective probability forecasting. Journal of Applied Meteorology 2(2), 191–201."),
    "Schechtman & Yitzhaki (1987)": (
        "Schechtman, E. & Yitzhaki, S. (1987). A measure of association based on Gini’s mean difference. "
        "Communications in Statistics – Theory and Methods 16(1), 207–231."),
    "Shannon (1948)": (
        "Shannon, C. E. (1948). A mathematical theory of communication. Bell System Technical Journal 27(3), 379–423, "
        "and 27(4), 623–656."),
    "Shrout & Fleiss (1979)": (
        "Shrout, P. E. & Fleiss, J. L. (1979). Intraclass correlations: uses in assessing rater reliability. "
        "Psychological Bulletin 86(2), 420–428."),
    "Smirnov (1939)": (
        "Smirnov, N. V. (1939). On the estimation of the discrepancy between empirical curves of distribution for two "
        "independent samples. Bulletin mathématique de l’Université de Moscou 2(2), 3–14."),
    "Sokolova & Lapalme (2009)": (
        "Sokolova, M. & Lapalme, G. (2009). A systematic analysis of performance measures for classification tasks. "
        "Information Processing & Management 45(4), 427–437."),
    "Somers (1962)": (
        "Somers, R. H. (1962). A new asymmetric measure of association for ordinal variables. American Sociological "
        "Review 27(6), 799–811."),
    "Spiegelhalter (1986)": (
        "Spiegelhalter, D. J. (1986). Probabilistic prediction in patient management and clinical trials. Statistics "
        "in Medicine 5(5), 421–433."),
    "Spiegelhalter (2005)": (
        "Spiegelhalter, D. J. (2005). Funnel plots for comparing institutional performance. Statistics in Medicine "
        "24(8), 1185–1202."),
    "Stephenson, Coelho & Jolliffe (2008)": (
        "Stephenson, D. B., Coelho, C. A. S. & Jolliffe, I. T. (2008). Two extra components in the Brier score "
        "decomposition. Weather and Forecasting 23(4), 752–757."),
    "Tjur (2009)": (
        "Tjur, T. (2009). Coefficients of determination in logistic regression models – a new proposal: the "
        "coefficient of discrimination. The American Statistician 63(4), 366–372."),
    "Todeschini (2010)": (
        "Todeschini, R. (2010). Useful and unuseful summaries of regression models. Tutorial, Milano Chemometrics and "
        "QSAR Research Group."),
    "Toropova & Toropov (2017)": (
        "Toropova, A. P. & Toropov, A. A. (2017). The index of ideality of correlation: a criterion of predictability "
        "of QSAR models for skin permeability? Science of the Total Environment 586, 466–472."),
    "Vecchio (1966)": (
        "Vecchio, T. J. (1966). Predictive value of a single diagnostic test in unselected populations. New England "
        "Journal of Medicine 274(21), 1171–1173."),
    "Vickers & Elkin (2006)": (
        "Vickers, A. J. & Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction "
        "models. Medical Decision Making 26(6), 565–574."),
    "Vovk, Petej & Fedorova (2015)": (
        "Vovk, V., Petej, I. & Fedorova, V. (2015). Large-scale probabilistic predictors with and without guarantees "
        "of validity. Advances in Neural Information Processing Systems 28, 892–900."),
    "Watt, Borhani & Katsaggelos (2020)": (
        "Watt, J., Borhani, R. & Katsaggelos, A. K. (2020). Machine Learning Refined, 2nd edition. Cambridge "
        "University Press."),
    "Wilks (1938)": (
        "Wilks, S. S. (1938). The large-sample distribution of the likelihood ratio for testing composite hypotheses. "
        "The Annals of Mathematical Statistics 9(1), 60–62."),
    "Williams (1987)": (
        "Williams, P. C. (1987). Variables affecting near-infrared reflectance spectroscopic analysis. In P. Williams "
        "& K. Norris (eds.), Near-Infrared Technology in the Agricultural and Food Industries, 143–167. American "
        "Association of Cereal Chemists."),
    "Willmott & Matsuura (2005)": (
        "Willmott, C. J. & Matsuura, K. (2005). Advantages of the mean absolute error (MAE) over the root mean square "
        "error (RMSE) in assessing average model performance. Climate Research 30(1), 79–82."),
    "Wood (2017)": (
        "Wood, S. N. (2017). Generalized Additive Models: An Introduction with R, 2nd edition. Chapman and Hall/CRC."),
    "Yao et al. (2024)": (
        "Yao, S., Shinn, N., Razavi, P. & Narasimhan, K. (2024). τ-bench: a benchmark for tool-agent-user "
        "interaction in real-world domains. arXiv:2406.12045."),
    "Yerushalmy (1947)": (
        "Yerushalmy, J. (1947). Statistical problems in assessing methods of medical diagnosis, with special "
        "reference to X-ray techniques. Public Health Reports 62(40), 1432–1449."),
    "Youden (1950)": (
        "Youden, W. J. (1950). Index for rating diagnostic tests. Cancer 3(1), 32–35."),
    "Yule (1900)": (
        "Yule, G. U. (1900). On the association of attributes in statistics. Philosophical Transactions of the Royal "
        "Society of London, Series A 194, 257–319."),
    "Zadrozny & Elkan (2001)": (
        "Zadrozny, B. & Elkan, C. (2001). Obtaining calibrated probability estimates from decision trees and naive "
        "Bayesian classifiers. ICML 2001, 609–616."),
    "Zadrozny & Elkan (2002)": (
        "Zadrozny, B. & Elkan, C. (2002). Transforming classifier scores into accurate multiclass probability "
        "estimates. KDD 2002, 694–699."),
    "van Rijsbergen (1979)": (
        "van Rijsbergen, C. J. (1979). Information Retrieval, 2nd edition. Butterworths."),
}
"""The full reference of each short name that metrics and recalibrators give."""


SHORT = re.compile(r"(.*?\(\d{4})[^)]*\)")
"""The names and the year that a reference begins with."""

AUTHOR = re.compile(r"(?:^|, |& )([^,&]+), (?:[^\W\d_]\.[ -]?)+")
"""The family name of an author before his initials."""

MOST_AUTHORS = 3
"""The authors that a short name lists; of more it gives the first."""


def cited(reference: str) -> tuple[Piece, ...]:
    """Return a reference, or several with "; " between them, by short names, linked to their full text if known."""
    pieces: list[Piece] = []
    for text in reference.split("; "):
        short, full = short_and_full_reference(text)
        pieces += ["; ", Link(short, reference_anchor(short)) if full else Cite(text)]
    return tuple(pieces[1:])


def short_and_full_reference(reference: str) -> tuple[str, str]:
    """Return the short name of a reference and its full text; the latter empty where it is not known.

    A reference is a short name in the bibliography, with or without a place within the work, or the full text itself.
    """
    match = SHORT.match(reference)
    if match is None:
        return reference, ""
    key = f"{match[1]})"
    if key in BIBLIOGRAPHY:
        return reference, BIBLIOGRAPHY[key]
    names = AUTHOR.findall(match[1])
    if not names or match.end() == len(reference):
        return reference, ""
    year, full = match[1][-4:], f"{reference.rstrip('.')}."
    if len(names) > MOST_AUTHORS:
        return f"{names[0]} et al. ({year})", full
    *others, last = names
    return f"{', '.join(others)}{' & ' if others else ''}{last} ({year})", full


def reference_anchor(short: str) -> str:
    """Return the anchor of a reference, made of the names and the year in its short name."""
    match = SHORT.match(short)
    words = re.findall(r"[a-z0-9]+", (match[1] if match else short).lower())
    return f"ref-{'-'.join(words)}"
