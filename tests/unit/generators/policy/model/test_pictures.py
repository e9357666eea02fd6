"""Pictures at the size at which they are sent: which are resized, and how often."""

from support.servers.stub_engine import SIDE, seen

from generators.policy.model.pictures import MAX_PICTURES, EpisodePictures


async def test_a_screenshot_of_the_right_size_is_sent_byte_for_byte() -> None:
    observation = seen(0)

    picture = await EpisodePictures().get(observation, step=0, size=(SIDE, SIDE))

    assert picture.jpeg == observation.screenshot.bytes


async def test_a_screenshot_is_resized_once_for_each_size() -> None:
    pictures, observation = EpisodePictures(), seen(3)

    half = await pictures.get(observation, step=3, size=(SIDE // 2, SIDE // 2))
    again = await pictures.get(observation, step=3, size=(SIDE // 2, SIDE // 2))
    other = await pictures.get(observation, step=3, size=(SIDE, SIDE // 2))

    assert again is half
    assert (other.width, other.height) == (SIDE, SIDE // 2)
    assert other.jpeg != half.jpeg


async def test_another_step_is_another_picture() -> None:
    pictures = EpisodePictures()

    first = await pictures.get(seen(0), step=0, size=(SIDE, SIDE))
    second = await pictures.get(seen(1), step=1, size=(SIDE, SIDE))

    assert (first.step, second.step) == (0, 1)
    assert first.jpeg != second.jpeg


async def test_a_long_episode_keeps_its_latest_pictures_alone() -> None:
    pictures, small = EpisodePictures(), (SIDE // 2, SIDE // 2)
    first = await pictures.get(seen(0), step=0, size=small)
    later = [
        await pictures.get(seen(step), step=step, size=small) for step in range(1, MAX_PICTURES + 1)
    ]

    assert await pictures.get(seen(MAX_PICTURES), step=MAX_PICTURES, size=small) is later[-1]
    again = await pictures.get(seen(0), step=0, size=small)
    assert again is not first
    assert again == first
