"""The declaration of the product: options of `longfat run`, and an extra."""

from longfat.common.products import Extra, Product

PRODUCT = Product(
    extras={
        "cluster": Extra(
            feature="for --cluster", modules=("distributed", "pyarrow"), after="frames"
        ),
    },
    executor="longfat_cluster.options:OPTIONS",
)
